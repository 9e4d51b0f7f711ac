# Request: In files/inventory.xlsx: which items are below their reorder point? Put them, with supplier and cost of filling up, on a new sheet "Reorder", most expensive first, with a bold header.
import pandas as pd

allowed = (await tools.filesystem.list_allowed_directories()).content
root = next(l.strip() for l in allowed.splitlines() if l.startswith("/"))
book = f"{root}/files/inventory.xlsx"
info = await tools.excel.describe_workbook(path=book)
frames = {}
for sheet in info["sheets"]:
    name = sheet["name"]
    page = await tools.excel.read_range(path=book, sheet=name, max_cells=100000)
    head, *rows = page["values"]
    frames[name] = pd.DataFrame(rows, columns=head)
    print(name, list(head), len(rows), "rows")
stock = next(f for f in frames.values() if any("order" in str(c).lower() for c in f.columns))
sup = next(f for f in frames.values() if any("supplier" in str(c).lower() for c in f.columns))
def col(f, *words):
    return next(c for c in f.columns if all(w in str(c).lower() for w in words))
key = next(c for c in stock.columns if c in sup.columns)
hand, point, cost = col(stock, "hand"), col(stock, "order"), col(stock, "cost")
low = stock[stock[hand] < stock[point]].merge(sup, on=key, how="left")
low["Missing"] = low[point] - low[hand]
low["Cost to fill"] = (low["Missing"] * low[cost]).round(2)
low = low.sort_values("Cost to fill", ascending=False)
rows = [list(low.columns)] + low.astype(object).where(low.notna(), None).values.tolist()
await tools.excel.create_sheet(path=book, new_name="Reorder")
await tools.excel.write_range(path=book, sheet="Reorder", at="A1", rows=rows)
last = chr(ord("A") + len(low.columns) - 1)
await tools.excel.format_range(path=book, sheet="Reorder", range=f"A1:{last}1", style={"bold": True})
await tools.excel.set_sheet_layout(path=book, sheet="Reorder", layout={"autofit_columns": [f"A:{last}"], "freeze_panes": "A2"})
back = await tools.excel.read_range(path=book, sheet="Reorder", max_cells=100000)
print("written:", len(back["values"]) - 1, "items, cost", round(low["Cost to fill"].sum(), 2), "in all")
print(low.head(8).to_string(index=False))
