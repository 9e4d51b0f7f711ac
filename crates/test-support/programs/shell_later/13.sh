# Keep a stock list as CSV, load it into the database and name the articles below the minimum.
csv="sku,stock,minimum
A-1,5,10
A-2,40,10
B-7,0,3
C-3,12,12"
mcp call filesystem.write_file path=DATA/files/stock13.csv content="$csv" >/dev/null
mcp call sqlite.create_table query="CREATE TABLE IF NOT EXISTS stock13 (sku TEXT PRIMARY KEY, stock INTEGER, minimum INTEGER)" >/dev/null
values=$(mcp call filesystem.read_text_file path=DATA/files/stock13.csv | jq -r .content |
  awk -F, 'NR > 1 {printf "%s(\x27%s\x27, %d, %d)", (NR > 2 ? ", " : ""), $1, $2, $3}')
mcp call sqlite.write_query query="INSERT OR REPLACE INTO stock13 (sku, stock, minimum) VALUES $values" >/dev/null
mcp call sqlite.read_query query="SELECT sku FROM stock13 WHERE stock < minimum ORDER BY sku" | grep -oE '[A-Z]-[0-9]+'
