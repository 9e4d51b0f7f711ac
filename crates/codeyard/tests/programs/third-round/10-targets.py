# Request: table targets(region, quarter, target) with twelve values, yearly sum and share per region, all tables with row counts
import ast

def rows(r):
    return ast.literal_eval(r) if isinstance(r, str) else r

data = {"North": (36000, 38000, 36000), "South": (45000, 44000, 46000), "East": (30000, 32000, 33000), "West": (50000, 48000, 52000)}
print(await tools.sqlite.create_table(query="CREATE TABLE IF NOT EXISTS targets (region TEXT NOT NULL, quarter TEXT NOT NULL, target REAL NOT NULL, PRIMARY KEY (region, quarter))"))
values = ", ".join(f"('{r}', 'Q{i}', {v})" for r, vs in data.items() for i, v in enumerate(vs, start=1))
print(await tools.sqlite.write_query(query=f"INSERT OR REPLACE INTO targets (region, quarter, target) VALUES {values}"))
per = rows(await tools.sqlite.read_query(query="SELECT region, SUM(target) AS year, ROUND(100.0 * SUM(target) / (SELECT SUM(target) FROM targets), 2) AS share_percent FROM targets GROUP BY region ORDER BY year DESC"))
tables = rows(await tools.sqlite.list_tables())
counts = []
for t in tables:
    name = t["name"] if isinstance(t, dict) else t
    n = rows(await tools.sqlite.read_query(query=f'SELECT COUNT(*) AS n FROM "{name}"'))
    counts.append({"table": name, "rows": n[0]["n"]})
print(counts)
per
