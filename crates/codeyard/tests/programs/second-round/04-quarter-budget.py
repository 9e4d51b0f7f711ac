# Request: Make me files/budget.xlsx: one sheet a quarter with five cost lines and a formula for the sum, and a sheet "Year" that adds the quarters; tell me the year's sum.
allowed = (await tools.filesystem.list_allowed_directories()).content
root = next(l.strip() for l in allowed.splitlines() if l.startswith("/"))
book = f"{root}/files/budget.xlsx"
quarters = ["Q1", "Q2", "Q3", "Q4"]
lines = {"Rent": [3000, 3000, 3100, 3100], "Wages": [21000, 21000, 22000, 22500], "Travel": [900, 1400, 600, 1100],
         "Software": [480, 480, 520, 520], "Energy": [700, 380, 310, 640]}
await tools.excel.create_workbook(path=book, sheets=quarters + ["Year"], overwrite=True)
for i, q in enumerate(quarters):
    rows = [["Line", "Cost"]] + [[name, costs[i]] for name, costs in lines.items()] + [["Sum", "=SUM(B2:B6)"]]
    await tools.excel.write_range(path=book, sheet=q, at="A1", rows=rows)
await tools.excel.write_range(path=book, sheet="Year", at="A1", rows=[["Quarter", "Cost"]] + [[q, f"={q}!B7"] for q in quarters] + [["Year", "=SUM(B2:B5)"]])
for s, last in [(q, 7) for q in quarters] + [("Year", 6)]:
    await tools.excel.format_range(path=book, sheet=s, range="A1:B1", style={"bold": True})
    await tools.excel.format_range(path=book, sheet=s, range=f"A{last}:B{last}", style={"bold": True})
    await tools.excel.format_range(path=book, sheet=s, range=f"B2:B{last}", style={"number_format": "#,##0"})
year = await tools.excel.read_range(path=book, sheet="Year", range="A1:B6")
for row in year["values"]:
    print(*row, sep="\t")
expected = sum(map(sum, lines.values()))
print("the year's sum:", year["values"][-1][1], "- as added up here:", year["values"][-1][1] == expected)
print("The cost lines are examples of mine; put your own into the sheets.", book)
