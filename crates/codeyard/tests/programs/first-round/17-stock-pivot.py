# Request: Simulate a stock list of 300 articles in five warehouses, save it as a CSV file, import it into /srv/desk/files/stock.xlsx and add a pivot table of stock value per warehouse and category.
import numpy as np
import pandas as pd
from mcp import runtime
rng = np.random.default_rng(3)
n = 300
df = pd.DataFrame({
    "Article": [f"A-{i:04d}" for i in range(n)],
    "Warehouse": rng.choice(["Berlin", "Lyon", "Porto", "Turin", "Graz"], n),
    "Category": rng.choice(["Tools", "Paint", "Garden"], n),
    "Units": rng.integers(0, 500, n),
    "Price": rng.uniform(1, 90, n).round(2),
})
df["Value"] = (df.Units * df.Price).round(2)
df.to_csv("stock.csv", index=False)
path = "/srv/desk/files/stock.xlsx"
await tools.excel.create_workbook(path=path, sheets=["Stock", "Pivot"], overwrite=True)
print(await tools.excel.import_csv(path=path, csv_path=runtime.host_path("stock.csv"), sheet="Stock"))
print(await tools.excel.create_pivot_table(
    path=path, sheet="Pivot", at="A3", source="Stock!A1:F301", row_fields=["Warehouse"], column_fields=["Category"],
    value_fields=[{"field": "Value", "function": "sum", "number_format": "#,##0"}]))
got = await tools.excel.read_range(path=path, sheet="Pivot")
for row in got["values"]:
    print(row)
print("check:", df["Value"].sum().round(2))
