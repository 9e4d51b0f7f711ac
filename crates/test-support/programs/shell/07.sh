# Keep orders in the database and show the three customers with the highest turnover.
mcp call sqlite.create_table query="CREATE TABLE IF NOT EXISTS orders07 (id INTEGER PRIMARY KEY, customer TEXT, amount REAL)"
mcp call sqlite.write_query query="DELETE FROM orders07" >/dev/null
while IFS=, read -r customer amount; do
  mcp call sqlite.write_query query="INSERT INTO orders07 (customer, amount) VALUES ('$customer', $amount)" >/dev/null
done <<'EOF'
Acme,120.50
Bolt,80
Acme,310
Crane,45.25
Dune,500
Bolt,130
EOF
echo "Top customers:"
mcp call sqlite.read_query query="SELECT customer, SUM(amount) AS turnover FROM orders07 GROUP BY customer ORDER BY turnover DESC LIMIT 3"
