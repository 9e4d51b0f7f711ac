# Write a Markdown report of the stock in the database to a file, and show it.
set -euo pipefail
mcp call sqlite.create_table query="CREATE TABLE IF NOT EXISTS stock12 (item TEXT, qty INTEGER)" >/dev/null
mcp call sqlite.write_query query="DELETE FROM stock12" >/dev/null
mcp call sqlite.write_query query="INSERT INTO stock12 VALUES ('bolts', 400), ('nuts', 12), ('washers', 0)" >/dev/null
all=$(mcp call sqlite.read_query query="SELECT item || ': ' || qty AS line FROM stock12 ORDER BY item")
low=$(mcp call sqlite.read_query query="SELECT item FROM stock12 WHERE qty < 50 ORDER BY qty")
report=$(cat <<EOF
# Stock

All items: $all

To order: $low
EOF
)
mcp call filesystem.write_file path=DATA/files/stock12.md content="$report" >/dev/null
mcp call filesystem.read_text_file path=DATA/files/stock12.md | jq -r .content
