# Request: Create a sales table in the SQLite database with 12 months of revenue for three regions, then show me a chart of revenue per region and month.
import ast
import json
import pandas as pd
import matplotlib.pyplot as plt

# the table was created and filled by the first run
text = await tools.sqlite.read_query(query="SELECT month, region, revenue FROM sales ORDER BY month, region")
print(type(text).__name__, str(text)[:120])
try:
    rows = json.loads(text)
except ValueError:
    rows = ast.literal_eval(text)
df = pd.DataFrame(rows)
print(len(df), "rows")
pivot = df.pivot_table(index="month", columns="region", values="revenue", aggfunc="sum")
print(pivot)
fig, ax = plt.subplots(figsize=(9, 4))
pivot.plot(ax=ax, marker="o")
ax.set_title("Revenue per region, 2024")
ax.set_ylabel("Revenue (k)")
plt.tight_layout()
show(fig)
