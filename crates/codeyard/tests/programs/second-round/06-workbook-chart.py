# Request: From the orders, make a workbook files/sales.xlsx with a table of months x products and a line chart in it.
import io
import pandas as pd

allowed = (await tools.filesystem.list_allowed_directories()).content
root = next(l.strip() for l in allowed.splitlines() if l.startswith("/"))
found = (await tools.filesystem.search_files(path=f"{root}/files/orders", pattern="*.csv")).content
frames = []
for p in found.splitlines():
    if p.endswith(".csv"):
        frames.append(pd.read_csv(io.StringIO((await tools.filesystem.read_text_file(path=p)).content)))
orders = pd.concat(frames)
orders["month"] = orders["date"].str[:7]
orders["revenue"] = orders["quantity"] * orders["unit_price"]
wide = orders.pivot_table(index="month", columns="product", values="revenue", aggfunc="sum", fill_value=0).round(2)
book = f"{root}/files/sales.xlsx"
# The month with a "m" before it would be ugly; names of months stay text
names = pd.to_datetime(wide.index + "-01").strftime("%b %Y")
rows = [["Month", *wide.columns]] + [[n, *map(float, r)] for n, r in zip(names, wide.values)]
await tools.excel.create_workbook(path=book, sheets=["Sales"], overwrite=True)
await tools.excel.write_range(path=book, sheet="Sales", at="A1", rows=rows)
last = chr(ord("A") + len(wide.columns))
end = len(rows)
await tools.excel.set_table(path=book, sheet="Sales", range=f"A1:{last}{end}", name="Sales")
await tools.excel.format_range(path=book, sheet="Sales", range=f"B2:{last}{end}", style={"number_format": "#,##0.00"})
made = await tools.excel.create_chart(path=book, sheet="Sales", chart_type="line", source=f"A1:{last}{end}", at=f"A{end + 3}",
    options={"title": "Revenue per product", "markers": True, "legend": "right", "y_axis": {"title": "revenue", "number_format": "#,##0"}, "width_cm": 22, "height_cm": 10})
print("chart:", made)
sheet = await tools.excel.describe_sheet(path=book, sheet="Sales")
print("tables:", [t.get("name") for t in sheet.get("tables", [])], "charts:", len(sheet.get("charts", [])))
print(pd.DataFrame(rows[1:], columns=rows[0]).to_string(index=False))
