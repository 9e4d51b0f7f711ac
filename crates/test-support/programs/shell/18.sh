# Import a CSV with employees into a workbook, sort it by salary, highest first, and print the three best paid.
set -e
csv=DATA/files/staff18.csv
book=DATA/files/staff18.xlsx
content=$(cat <<'EOF'
name,team,salary
Ann,dev,5200
Ben,ops,4100
Cleo,dev,6100
Dan,sales,3900
Eve,ops,5600
EOF
)
mcp call filesystem.write_file path=$csv content="$content" > /dev/null
mcp call excel.create_workbook path=$book sheets='["Staff"]' overwrite=true > /dev/null
mcp call excel.import_csv path=$book csv_path=$csv sheet=Staff at=A1 delimiter=comma > /dev/null
mcp call excel.sort_range path=$book sheet=Staff range=A1:C6 sort_by='[{"column": "C", "order": "descending"}]' has_header=true > /dev/null
mcp call excel.read_range path=$book sheet=Staff range=A2:C4 | jq -r '.values[] | "\(.[0]) (\(.[1])): \(.[2])"'
