# Request: sheet Targets in exports/sales.xlsx: target (table targets), actual as a formula on Monthly, difference and percent; colour the misses; who missed
import ast

path = "/srv/desk/exports/sales.xlsx"
r = await tools.sqlite.read_query(query="SELECT region, SUM(target) AS target FROM targets GROUP BY region ORDER BY region")
targets = ast.literal_eval(r) if isinstance(r, str) else r

monthly = (await tools.excel.read_range(path=path, sheet="Monthly"))["values"]
header = monthly[0]
total_row = next(i for i, row in enumerate(monthly, start=1) if row[0] == "Total")
book = await tools.excel.describe_workbook(path=path)
if any(s["name"] == "Targets" for s in book["sheets"]):
    await tools.excel.delete_sheet(path=path, sheet="Targets")
await tools.excel.create_sheet(path=path, new_name="Targets")

rows = [["Region", "Target", "Actual", "Difference", "Percent of target"]]
for i, t in enumerate(targets, start=2):
    col = chr(65 + header.index(t["region"]))
    rows.append([t["region"], t["target"], f"=Monthly!{col}{total_row}", f"=C{i}-B{i}", f"=C{i}/B{i}"])
n = len(rows)
await tools.excel.write_range(path=path, sheet="Targets", at="A1", rows=rows)
await tools.excel.format_range(path=path, sheet="Targets", range="A1:E1", style={"bold": True, "fill_color": "#D9E1F2"})
await tools.excel.format_range(path=path, sheet="Targets", range=f"B2:D{n}", style={"number_format": "#,##0.00"})
await tools.excel.format_range(path=path, sheet="Targets", range=f"E2:E{n}", style={"number_format": "0.0%"})
await tools.excel.set_sheet_layout(path=path, sheet="Targets", layout={"freeze_panes": "A2", "autofit_columns": list("ABCDE")})
await tools.excel.add_conditional_format(path=path, sheet="Targets", range=f"A2:E{n}", rule={"type": "formula", "formula": "=$D2<0", "fill_color": "#FFC7CE", "font_color": "#9C0006"})
back = (await tools.excel.read_range(path=path, sheet="Targets", range=f"A1:E{n}"))["values"]
missed = [b[0] for b in back[1:] if b[3] < 0]
print("Missed the target:", missed or "nobody")
[dict(zip(back[0], b)) for b in back[1:]]
