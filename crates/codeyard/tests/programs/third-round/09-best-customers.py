# Request: top ten customers by paid revenue, revenue per country as a chart, customers who never ordered
import ast
import json
import matplotlib.pyplot as plt

async def query(sql):
    r = await tools.sqlite.read_query(query=sql)
    if isinstance(r, str):
        try:
            r = json.loads(r)
        except ValueError:
            r = ast.literal_eval(r)
    return r

top = await query("""select c.name, c.country, count(*) as orders, round(sum(o.total), 2) as revenue, round(avg(o.total), 2) as average
 from orders o join customers c on c.id = o.customer_id where o.status = 'paid' group by c.id order by revenue desc limit 10""")
countries = await query("""select c.country, round(sum(o.total), 2) as revenue from orders o join customers c on c.id = o.customer_id
 where o.status = 'paid' group by c.country order by revenue desc""")
never = await query("select id, name from customers where id not in (select customer_id from orders where customer_id is not null) order by id")

fig, ax = plt.subplots(figsize=(6, 4))
bars = ax.bar([r["country"] for r in countries], [r["revenue"] for r in countries], color="#2a7f62")
ax.bar_label(bars, fmt="{:,.0f}")
ax.set_title("Paid revenue per country")
print("Per country:", countries)
print("Never ordered:", [r["name"] for r in never])
top
