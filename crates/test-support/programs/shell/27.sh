# Replace the old company name in a workbook everywhere and check that nothing is left of it.
book=DATA/files/letter27.xlsx
mcp call excel.create_workbook path=$book sheets='["Intro", "Terms"]' overwrite=true >/dev/null
mcp call excel.write_range path=$book sheet=Intro at=A1 rows='[["Welcome to OldCo"], ["OldCo was founded in 1990"], ["Regards"]]' >/dev/null
mcp call excel.write_range path=$book sheet=Terms at=B2 rows='[["Terms of OldCo", "valid"]]' >/dev/null
count() { mcp call excel.find_cells path=$book query="$1" | jq '[.matches[] | length] | add // 0'; }
echo "before: $(count OldCo) cells"
mcp call excel.replace_cells path=$book query=OldCo replacement=NewCo
echo "after: $(count OldCo) old, $(count NewCo) new"
mcp call excel.describe_workbook path=$book | jq -r '.sheets[] | "\(.name)\t\(.used_range)"'
