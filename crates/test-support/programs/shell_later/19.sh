# Set title and author of a new report workbook and confirm that they were stored.
wb=DATA/files/report19.xlsx
mcp call excel.create_workbook path=$wb sheets='["Summary", "Details"]' overwrite=true >/dev/null || exit 1
mcp call excel.set_workbook_settings - >/dev/null <<EOF
{"path": "$wb", "settings": {"doc_properties": {"title": "Annual report", "author": "Finance", "company": "Example Ltd"}}}
EOF
mcp call excel.set_note path=$wb sheet=Summary cell=A1 text="To be filled by Friday" author=Finance >/dev/null
mcp call excel.describe_workbook path=$wb | jq -r '.doc_properties | to_entries[] | "\(.key)=\(.value)"' | sort
