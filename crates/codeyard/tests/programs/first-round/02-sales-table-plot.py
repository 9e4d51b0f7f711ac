# Request: Create a sales table in the SQLite database with 12 months of revenue for three regions, then show me a chart of revenue per region and month.
import random
import pandas as pd
import matplotlib.pyplot as plt

await tools.sqlite.create_table(query="CREATE TABLE IF NOT EXISTS sales (id INTEGER PRIMARY KEY AUTOINCREMENT, month TEXT, region TEXT, revenue REAL)")
random.seed(7)
values = []
for m in range(1, 13):
    for region, base in (("North", 100), ("South", 80), ("West", 120)):
        values.append(f"('2024-{m:02d}', '{region}', {base + m * 3 + random.randint(-15, 15)})")
await tools.sqlite.write_query(query="INSERT INTO sales (month, region, revenue) VALUES " + ", ".join(values))

rows = await tools.sqlite.read_query(query="SELECT month, region, revenue FROM sales ORDER BY month, region")
df = pd.DataFrame(rows)
pivot = df.pivot_table(index="month", columns="region", values="revenue", aggfunc="sum")
print(pivot)
fig, ax = plt.subplots(figsize=(9, 4))
pivot.plot(ax=ax, marker="o")
ax.set_title("Revenue per region, 2024")
ax.set_ylabel("Revenue (k)")
plt.tight_layout()
show(fig)
