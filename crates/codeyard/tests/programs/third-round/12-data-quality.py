# Request: orders whose total differs from their items, customers sharing an email, orders without customer; each finding as data_issue in memory
import ast

async def query(sql):
    r = await tools.sqlite.read_query(query=sql)
    return ast.literal_eval(r) if isinstance(r, str) else r

wrong = await query("""SELECT o.id, o.total, ROUND(COALESCE(SUM(i.qty * i.price), 0), 2) AS items FROM orders o
 LEFT JOIN order_items i ON i.order_id = o.id GROUP BY o.id HAVING ABS(o.total - COALESCE(SUM(i.qty * i.price), 0)) > 0.005 ORDER BY o.id""")
shared = await query("SELECT email, GROUP_CONCAT(name, ', ') AS names, COUNT(*) AS n FROM customers GROUP BY LOWER(email) HAVING COUNT(*) > 1")
orphans = await query("SELECT o.id, o.customer_id FROM orders o LEFT JOIN customers c ON c.id = o.customer_id WHERE c.id IS NULL")

entities = []
for w in wrong:
    entities.append({"name": f"order {w['id']} total mismatch", "entityType": "data_issue",
                     "observations": [f"order total {w['total']}", f"sum of items {w['items']}", f"difference {round(w['total'] - w['items'], 2)}"]})
for s in shared:
    entities.append({"name": f"shared email {s['email']}", "entityType": "data_issue", "observations": [f"used by {s['names']}", f"{s['n']} customers"]})
for o in orphans:
    entities.append({"name": f"order {o['id']} without customer", "entityType": "data_issue", "observations": [f"customer_id {o['customer_id']} does not exist"]})
made = await tools.memory.create_entities(entities=entities)
found = await tools.memory.search_nodes(query="data_issue")
print("orphans:", orphans)
print("recorded:", len(made.entities), "- found in the graph:", [e.name for e in found.entities])
{"wrong_totals": wrong, "shared_emails": shared, "orders_without_customer": orphans}
