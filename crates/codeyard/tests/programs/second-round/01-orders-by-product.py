# Request: Total revenue per product over my three monthly order files (files/orders), as a small table, and a bar chart.
import io
import pandas as pd
import matplotlib.pyplot as plt

allowed = (await tools.filesystem.list_allowed_directories()).content
root = next(l.strip() for l in allowed.splitlines() if l.startswith("/"))
found = (await tools.filesystem.search_files(path=f"{root}/files/orders", pattern="*.csv")).content
paths = sorted(l for l in found.splitlines() if l.endswith(".csv"))
parts = []
for p in paths:
    text = (await tools.filesystem.read_text_file(path=p)).content
    parts.append(pd.read_csv(io.StringIO(text)).assign(file=p.rsplit("/", 1)[1]))
orders = pd.concat(parts)
orders["revenue"] = orders["quantity"] * orders["unit_price"]
table = orders.groupby("product").agg(orders=("order_id", "count"), revenue=("revenue", "sum")).sort_values("revenue", ascending=False).round(2)
print(len(paths), "files,", len(orders), "orders,", round(orders.revenue.sum(), 2), "in all")
print(table.to_string())
fig, ax = plt.subplots(figsize=(6, 3.5))
table["revenue"].plot.bar(ax=ax, color="#4477aa")
ax.set_ylabel("revenue")
ax.set_title("Revenue per product, January to March")
fig.tight_layout()
show(fig)
