# Request: Load orders.csv into the database as table "orders", give me the best month of each customer, and a pie chart of the revenue shares.
import ast, io
import pandas as pd
import matplotlib.pyplot as plt
text = (await tools.filesystem.read_text_file(path="/srv/desk/files/orders.csv"))["content"]
df = pd.read_csv(io.StringIO(text))
await tools.sqlite.create_table(query="CREATE TABLE IF NOT EXISTS orders (order_id INTEGER PRIMARY KEY, date TEXT, customer TEXT, quantity INTEGER, unit_price REAL, total REAL)")
values = ", ".join(f"({r.order_id}, '{r.date}', '{r.customer}', {r.quantity}, {r.unit_price}, {r.total})" for r in df.itertuples())
await tools.sqlite.write_query(query="INSERT OR REPLACE INTO orders VALUES " + values)
best = ast.literal_eval(await tools.sqlite.read_query(query="""
    WITH m AS (SELECT customer, substr(date, 1, 7) AS month, ROUND(SUM(total), 2) AS revenue FROM orders GROUP BY 1, 2)
    SELECT customer, month, MAX(revenue) AS revenue FROM m GROUP BY customer ORDER BY revenue DESC"""))
print(pd.DataFrame(best).to_string(index=False))
shares = pd.DataFrame(ast.literal_eval(await tools.sqlite.read_query(query="SELECT customer, SUM(total) AS total FROM orders GROUP BY customer")))
fig, ax = plt.subplots()
ax.pie(shares["total"], labels=shares["customer"], autopct="%1.1f %%")
ax.set_title("Revenue shares")
show(fig)
