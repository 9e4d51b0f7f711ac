# Request: Clean sales/sales_2026.csv, revenue per region as a bar chart, numbers and how many rows were dropped
import io
import pandas as pd
import matplotlib.pyplot as plt

text = (await tools.filesystem.read_text_file(path="/srv/desk/sales/sales_2026.csv")).content
df = pd.read_csv(io.StringIO(text))
n0 = len(df)
df["region"] = df["region"].str.strip().str.title()
df = df.drop_duplicates(subset="order_id")
n1 = len(df)
df = df.dropna(subset=["region", "units"])
n2 = len(df)
df["discount"] = df["discount"].fillna(0)
df["revenue"] = df["units"] * df["unit_price"] * (1 - df["discount"])
rev = df.groupby("region")["revenue"].sum().round(2).sort_values(ascending=False)

fig, ax = plt.subplots(figsize=(7, 4))
bars = ax.bar(rev.index, rev.values, color="#3b6fb6")
ax.bar_label(bars, labels=[f"{v:,.0f}" for v in rev.values])
ax.set_title("Revenue per region 2026")
ax.set_ylabel("Revenue")
fig.tight_layout()
show(fig)
{"rows_read": n0, "duplicates_dropped": n0 - n1, "incomplete_dropped": n1 - n2, "kept": n2, "revenue": rev.to_dict()}
