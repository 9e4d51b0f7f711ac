# Request: Generate a CSV of 200 random orders with pandas, put it into an Excel workbook /srv/desk/files/orders.xlsx, and add a sheet with the totals per customer.
import numpy as np
import pandas as pd

rng = np.random.default_rng(1)
df = pd.DataFrame({
    "order_id": range(1, 201),
    "date": pd.date_range("2024-01-01", periods=200, freq="D").strftime("%Y-%m-%d"),
    "customer": rng.choice(["Acme", "Globex", "Initech", "Umbrella"], 200),
    "quantity": rng.integers(1, 20, 200),
    "unit_price": rng.uniform(5, 50, 200).round(2),
})
df["total"] = (df.quantity * df.unit_price).round(2)

csv_path = "/srv/desk/files/orders.csv"
xlsx = "/srv/desk/files/orders.xlsx"
await tools.filesystem.write_file(path=csv_path, content=df.to_csv(index=False))
print(await tools.excel.create_workbook(path=xlsx, sheets=["Orders", "Totals"], overwrite=True))
print(await tools.excel.import_csv(path=xlsx, csv_path=csv_path, sheet="Orders"))
totals = df.groupby("customer", as_index=False)["total"].sum().round(2)
rows = [list(totals.columns)] + totals.values.tolist()
await tools.excel.write_range(path=xlsx, sheet="Totals", at="A1", rows=rows)
print(await tools.excel.read_range(path=xlsx, sheet="Totals"))
