# Request: exports/sales.xlsx from sales/sales_2026.csv: Data with revenue, Monthly month x region with a total row as formulas, chart
import csv, io

desk = "/srv/desk"
path = f"{desk}/exports/sales.xlsx"
text = (await tools.filesystem.read_text_file(path=f"{desk}/sales/sales_2026.csv")).content
seen, rows = set(), []
for r in csv.DictReader(io.StringIO(text)):
    if r["order_id"] in seen:
        continue
    seen.add(r["order_id"])
    region = r["region"].strip().title()
    if not region or not r["units"].strip():
        continue
    units, price, disc = float(r["units"]), float(r["unit_price"]), float(r["discount"] or 0)
    rows.append([r["order_id"], r["date"], region, r["product"], units, price, disc, round(units * price * (1 - disc), 2)])

regions = sorted({r[2] for r in rows})
months = sorted({r[1][:7] for r in rows})
sums = {}
for r in rows:
    sums[r[1][:7], r[2]] = sums.get((r[1][:7], r[2]), 0) + r[7]

await tools.excel.create_workbook(path=path, sheets=["Data", "Monthly"], overwrite=True)
header = ["order_id", "date", "region", "product", "units", "unit_price", "discount", "revenue"]
await tools.excel.write_range(path=path, sheet="Data", at="A1", rows=[header] + rows)
last = len(rows) + 1
monthly = [["Month"] + regions + ["Total"]]
for i, m in enumerate(months, start=2):
    monthly.append([m] + [round(sums.get((m, g), 0), 2) for g in regions] + [f"=SUM(B{i}:{chr(65 + len(regions))}{i})"])
end = len(months) + 1
cols = [chr(66 + k) for k in range(len(regions) + 1)]
monthly.append(["Total"] + [f"=SUM({c}2:{c}{end})" for c in cols])
await tools.excel.write_range(path=path, sheet="Monthly", at="A1", rows=monthly)

for sheet, cols_, in (("Data", "H"), ("Monthly", chr(65 + len(regions) + 1))):
    await tools.excel.format_range(path=path, sheet=sheet, range=f"A1:{cols_}1", style={"bold": True, "fill_color": "#D9E1F2"})
    await tools.excel.set_sheet_layout(path=path, sheet=sheet, layout={"freeze_panes": "A2", "autofit_columns": [chr(c) for c in range(65, ord(cols_) + 1)]})
await tools.excel.format_range(path=path, sheet="Data", range=f"F2:F{last}", style={"number_format": "#,##0.00"})
await tools.excel.format_range(path=path, sheet="Data", range=f"H2:H{last}", style={"number_format": "#,##0.00"})
await tools.excel.format_range(path=path, sheet="Data", range=f"G2:G{last}", style={"number_format": "0%"})
await tools.excel.format_range(path=path, sheet="Data", range=f"B2:B{last}", style={"number_format": "yyyy-mm-dd"})
total_col = chr(65 + len(regions) + 1)
await tools.excel.format_range(path=path, sheet="Monthly", range=f"B2:{total_col}{end + 1}", style={"number_format": "#,##0.00"})
await tools.excel.format_range(path=path, sheet="Monthly", range=f"A{end + 1}:{total_col}{end + 1}", style={"bold": True})
chart = await tools.excel.create_chart(
    path=path, sheet="Monthly", chart_type="column", at=f"A{end + 4}",
    source=f"A1:{chr(65 + len(regions))}{end}",
    options={"title": "Revenue per month and region", "legend": "bottom", "y_axis": {"title": "Revenue", "number_format": "#,##0"}},
)
back = await tools.excel.read_range(path=path, sheet="Monthly", range=f"A1:{total_col}{end + 1}")
print("chart:", chart)
print("data rows:", len(rows))
back["values"]
