# Make an invoice: items in the database, gross total by the calculator, a workbook with the items, a note in the graph.
set -eo pipefail
book=DATA/files/invoice30.xlsx
items=$(jq -nc '[["Desk", 2, 149.9], ["Chair", 4, 79.5], ["Lamp", 3, 24]]')
mcp call sqlite.create_table query="CREATE TABLE IF NOT EXISTS invoice30 (item TEXT, qty INTEGER, price REAL)" >/dev/null
mcp call sqlite.write_query query="DELETE FROM invoice30" >/dev/null
values=$(jq -r --arg q "'" 'map("(\($q)\(.[0])\($q), \(.[1]), \(.[2]))") | join(", ")' <<<"$items")
mcp call sqlite.write_query query="INSERT INTO invoice30 VALUES $values" >/dev/null
net=$(mcp call sqlite.read_query query="SELECT SUM(qty * price) AS net FROM invoice30" | grep -oE '[0-9]+(\.[0-9]+)?' | head -n 1)
gross=$(mcp call calculator.calculate expression="round($net * 1.19, 2)" | jq -r .result)
mcp call excel.create_workbook path=$book sheets='["Invoice"]' overwrite=true >/dev/null
jq -n --argjson items "$items" --arg p "$book" --arg net "$net" --arg gross "$gross" \
  '{path: $p, sheet: "Invoice", at: "A1", rows: ([["Item", "Qty", "Price"]] + $items + [["Net", null, ($net | tonumber)], ["Gross", null, ($gross | tonumber)]])}' \
  | mcp call excel.write_range - >/dev/null
mcp call memory.create_entities entities="[{\"name\": \"invoice30\", \"entityType\": \"invoice\", \"observations\": [\"gross $gross\"]}]" >/dev/null
mcp call memory.search_nodes query=invoice30 | jq -r '.entities[] | select(.name == "invoice30") | "\(.name): \(.observations[0])"'
mcp call excel.read_range path=$book sheet=Invoice | jq -r '.values[] | @tsv'
