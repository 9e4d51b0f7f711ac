# Create a table of orders in the database, fill it and show the total of each customer.
mcp call sqlite.create_table query="CREATE TABLE IF NOT EXISTS orders05 (id INTEGER PRIMARY KEY, customer TEXT, amount REAL)" >/dev/null
while IFS=, read -r id customer amount; do
  mcp call sqlite.write_query query="INSERT OR REPLACE INTO orders05 VALUES ($id, '$customer', $amount)" >/dev/null
done <<'EOF'
1,Ada,120.5
2,Bob,80
3,Ada,40
4,Cleo,310.25
EOF
mcp call sqlite.read_query query="SELECT customer, SUM(amount) AS total FROM orders05 GROUP BY customer ORDER BY total DESC"
