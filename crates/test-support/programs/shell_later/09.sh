# Create a workbook with one sheet per quarter and check that all sheets are there.
set -e
mcp call excel.create_workbook '{"path": "DATA/files/quarters09.xlsx", "sheets": ["Q1", "Q2", "Q3", "Q4"], "overwrite": true}' >/dev/null
sheets=$(mcp call excel.describe_workbook path=DATA/files/quarters09.xlsx | jq -r '.sheets[].name')
for q in Q1 Q2 Q3 Q4; do
  grep -qx "$q" <<< "$sheets" && echo "$q ok"
done
echo "sheets: $(wc -l <<< "$sheets" | tr -d ' ')"
