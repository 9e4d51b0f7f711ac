# Request: open orders before 2026-06-01 to cancelled, audit table with the present Berlin time, counts by status before and after
import ast

async def query(sql):
    r = await tools.sqlite.read_query(query=sql)
    return ast.literal_eval(r) if isinstance(r, str) else r

now = (await tools.time.get_current_time(timezone="Europe/Berlin")).datetime
by_status = "SELECT status, COUNT(*) AS n FROM orders GROUP BY status ORDER BY status"
before = await query(by_status)
print(await tools.sqlite.create_table(query="CREATE TABLE IF NOT EXISTS order_audit (order_id INTEGER NOT NULL, old_status TEXT NOT NULL, new_status TEXT NOT NULL, changed_at TEXT NOT NULL)"))
where = "status = 'open' AND order_date < '2026-06-01'"
print(await tools.sqlite.write_query(query=f"INSERT INTO order_audit (order_id, old_status, new_status, changed_at) SELECT id, status, 'cancelled', '{now}' FROM orders WHERE {where}"))
print(await tools.sqlite.write_query(query=f"UPDATE orders SET status = 'cancelled' WHERE {where}"))
after = await query(by_status)
audit = await query("SELECT * FROM order_audit ORDER BY order_id")
print("before:", before)
print("after:", after)
audit
