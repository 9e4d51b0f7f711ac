# Summarize sales by region in a PivotTable and add a column chart; tell what is on the sheet afterwards.
b=DATA/files/pivot22.xlsx
mcp call excel.create_workbook path=$b sheets='["Data", "Summary"]' overwrite=true >/dev/null || exit 1
rows='[["Region","Product","Amount"]'
for region in North South East; do
  for product in Tea Coffee; do rows+=",[\"$region\",\"$product\",$(( ${#region} * 10 + ${#product} ))]"; done
done
rows+=']'
mcp call excel.write_range path=$b sheet=Data at=A1 rows="$rows" >/dev/null
mcp call excel.create_pivot_table path=$b sheet=Summary at=A3 source='Data!A1:C7' row_fields='["Region"]' value_fields='[{"field": "Amount", "function": "sum"}]' name=ByRegion
mcp call excel.create_chart path=$b sheet=Data chart_type=column source=A1:C7 at=E2 options='{"title": "Sales"}'
mcp call excel.describe_sheet path=$b sheet=Summary | jq '{used_range, pivots: (.pivot_tables // [] | length)}'
mcp call excel.describe_sheet path=$b sheet=Data | jq -r '"charts on Data: \(.charts // [] | length)"'
