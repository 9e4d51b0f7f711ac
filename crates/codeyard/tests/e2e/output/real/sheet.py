# Cells of a workbook as records.
import os

where = os.path.basename("book.xlsx")
folder = (await tools.filesystem.list_allowed_directories()).content.splitlines()[-1]
path = f"{folder}/{where}"
await tools.excel.create_workbook(path=path, sheets=["Data"], overwrite=True)
rows = [["region", "quarter", "units", "growth"]] + [
    [region, f"Q{q}", 100 * q + n, round(0.017 * q - 0.01 * n, 4)]
    for n, region in enumerate(["EMEA", "AMER", "APAC"])
    for q in (1, 2, 3, 4)
]
await tools.excel.write_range(path=path, sheet="Data", at="A1", rows=rows)
read = await tools.excel.read_range(path=path, sheet="Data")
head, *body = read["values"]
return [dict(zip(head, row)) for row in body]
