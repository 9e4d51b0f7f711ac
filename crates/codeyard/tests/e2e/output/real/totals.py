# A small table: what a grouping leaves.
found = await tools.sqlite.read_query(query="SELECT 'Oslo' AS city, 10 AS orders, 2887.5 AS total UNION ALL SELECT 'Rome', 10, 2750.0 UNION ALL SELECT 'Lima', 10, 2750.0 UNION ALL SELECT 'Cairo', 10, 2887.5")
import ast

return ast.literal_eval(found) if isinstance(found, str) else found
