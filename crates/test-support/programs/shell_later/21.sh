# Make an inventory of the tables of the database with their number of rows, and save it as a text file.
set -o pipefail
mkdir -p /results
mcp call sqlite.create_table query="CREATE TABLE IF NOT EXISTS inv21 (name TEXT)" >/dev/null
mcp call sqlite.write_query query="INSERT INTO inv21 VALUES ('x'), ('y')" >/dev/null
tables=$(mcp call sqlite.read_query query="SELECT '<' || name || '>' AS t FROM sqlite_master WHERE type = 'table'" | grep -oE '<[A-Za-z0-9_]+>' | tr -d '<>')
for t in $tables; do
  n=$(mcp call sqlite.read_query query="SELECT '<' || COUNT(*) || '>' AS n FROM \"$t\"" | grep -oE '<[0-9]+>' | tr -d '<>')
  echo "$t $n"
done | sort -k2,2nr > /results/tables21.txt
cat /results/tables21.txt
mcp call filesystem.write_file path=DATA/files/tables21.txt content="$(cat /results/tables21.txt)" >/dev/null
