# Make a workbook with the sales of four quarters, add totals by formula and print the calculated total.
set -e
book=DATA/files/sales06.xlsx
mcp call excel.create_workbook path=$book sheets='["Sales"]' overwrite=true
mcp call excel.write_range path=$book sheet=Sales at=A1 rows='[["Quarter", "North", "South", "Total"], ["Q1", 120, 80, "=B2+C2"], ["Q2", 140, 95, "=B3+C3"], ["Q3", 90, 110, "=B4+C4"], ["Q4", 200, 160, "=B5+C5"], ["Year", "=SUM(B2:B5)", "=SUM(C2:C5)", "=SUM(D2:D5)"]]'
mcp call excel.format_range path=$book sheet=Sales range=A1:D1 style='{"bold": true, "fill_color": "#DDEBF7"}'
mcp call excel.read_range path=$book sheet=Sales range=A2:D6 | jq -r '.values[] | @tsv' | tee /scratch/sales06.tsv
echo "total of the year: $(awk -F'\t' '$1 == "Year" { print $4 }' /scratch/sales06.tsv)"
