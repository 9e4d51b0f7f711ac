# Request: which articles to reorder and how many (up to twice the reorder level), thinking tool with >= 4 thoughts (one revising), cost with the calculator
import ast

async def query(sql):
    r = await tools.sqlite.read_query(query=sql)
    return ast.literal_eval(r) if isinstance(r, str) else r

stock = await query("SELECT sku, name, stock, reorder_level FROM inventory ORDER BY sku")
items = await query("SELECT i.sku, i.price, o.order_date, i.order_id FROM order_items i JOIN orders o ON o.id = i.order_id ORDER BY o.order_date, i.order_id")
price = {i["sku"]: i["price"] for i in items}
low = [s for s in stock if s["stock"] < s["reorder_level"]]
plan = [{"sku": s["sku"], "name": s["name"], "stock": s["stock"], "reorder_level": s["reorder_level"],
         "order": 2 * s["reorder_level"] - s["stock"], "price": price.get(s["sku"])} for s in low]

thoughts = [
    ("Below the reorder level: " + ", ".join(f"{p['name']} ({p['stock']} of {p['reorder_level']})" for p in plan), {}),
    ("First idea: order only up to the reorder level: " + ", ".join(f"{p['sku']} {p['reorder_level'] - p['stock']}" for p in plan), {}),
    ("Revised: the rule is up to twice the reorder level: " + ", ".join(f"{p['sku']} {p['order']}" for p in plan), {"isRevision": True, "revisesThought": 2}),
    ("Cost at the last sale price: " + ", ".join(f"{p['sku']} {p['order']} x {p['price']}" for p in plan), {}),
    ("Result: order " + ", ".join(f"{p['order']} {p['name']}" for p in plan), {}),
]
for n, (text, more) in enumerate(thoughts, start=1):
    t = await tools.thinking.sequentialthinking(thought=text, thoughtNumber=n, totalThoughts=len(thoughts), nextThoughtNeeded=n < len(thoughts), **more)
    print(n, text)
print("thoughts recorded:", t.thoughtHistoryLength)

for p in plan:
    p["cost"] = round(float((await tools.calculator.calculate(expression=f"{p['order']} * {p['price']}")).result), 2)
total = (await tools.calculator.calculate(expression=" + ".join(str(p["cost"]) for p in plan))).result
print("total cost:", total)
plan
