# Create a workbook for each department, list the Excel files with their sizes, and record the total in the database.
for d in sales hr it; do
  jq -n --arg p "DATA/files/dept26/$d.xlsx" '{path: $p, sheets: ["Budget", "Staff"], overwrite: true}' > /scratch/wb26-$d.json
done
mcp call filesystem.create_directory path=DATA/files/dept26 >/dev/null
for j in /scratch/wb26-*.json; do mcp call excel.create_workbook - < "$j" >/dev/null || exit 1; done
list=$(mcp call excel.list_workbooks directory=DATA/files/dept26)
jq -r 'to_entries | sort_by(.key)[] | "\(.key | split("/") | last)\t\(.value)"' <<< "$list"
total=$(jq 'add' <<< "$list")
mcp call sqlite.create_table query="CREATE TABLE IF NOT EXISTS sizes26 (day TEXT, bytes INTEGER)" >/dev/null
mcp call sqlite.write_query query="INSERT INTO sizes26 VALUES (date('now'), $total)"
