# Rows of a database: numbers, texts, and nothing.
await tools.sqlite.write_query(query="DROP TABLE IF EXISTS orders")
await tools.sqlite.create_table(query="CREATE TABLE orders (id INTEGER, city TEXT, total REAL, note TEXT)")
rows = ", ".join(
    f"({n}, '{['Oslo', 'Rome', 'Lima', 'Cairo'][n % 4]}', {n * 13.75}, {'NULL' if n % 3 else chr(39) + 'paid, late' + chr(39)})"
    for n in range(1, 41)
)
await tools.sqlite.write_query(query=f"INSERT INTO orders VALUES {rows}")
found = await tools.sqlite.read_query(query="SELECT * FROM orders ORDER BY id")
import ast

return ast.literal_eval(found) if isinstance(found, str) else found
