# Request: In orders.xlsx find all orders of the customer Globex, mark these rows yellow, and tell me how many there are and the largest one.
import asyncio
import re
path = "/srv/desk/files/orders.xlsx"
found = await tools.excel.find_cells(path=path, query="Globex", sheet="Orders", exact=True, max_results=500)
cells = found["matches"]["Orders"]
rows = sorted(int(re.search(r"\d+", c).group()) for c in cells)
for r in rows:
    await tools.excel.format_range(path=path, sheet="Orders", range=f"A{r}:F{r}", style={"fill_color": "#FFFF00"})
data = (await tools.excel.read_range(path=path, sheet="Orders", range="A1:F201"))["values"]
orders = [data[r - 1] for r in rows]
biggest = max(orders, key=lambda o: o[5])
print(len(rows), "orders of Globex; largest:", dict(zip(data[0], biggest)))
