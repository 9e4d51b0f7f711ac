# Request: (continues 23) Errors per hour as a stacked chart by service, and an Excel file files/errors.xlsx with one sheet per service, and put the hourly counts into the database as well; check that all three agree.
import ast
import matplotlib.pyplot as plt

hourly = errors.pivot_table(index="hour", columns="service", values="time", aggfunc="count", fill_value=0)
fig, ax = plt.subplots(figsize=(8, 3.6))
hourly.plot.bar(stacked=True, ax=ax, width=0.85)
ax.set(xlabel="hour (UTC)", ylabel="errors", title="Errors per hour")
fig.tight_layout()
show(fig)

book = f"{root}/files/errors.xlsx"
services = list(hourly.columns)
await tools.excel.create_workbook(path=book, sheets=services, overwrite=True)
for s in services:
    part = errors[errors["service"] == s]
    rows = [["Time", "Hour", "Message", "Id", "ms"]] + [[t.strftime("%Y-%m-%dT%H:%M:%S"), int(h), m, int(f["id"]), int(f["ms"])] for t, h, m, f in zip(part["time"], part["hour"], part["message"], part["fields"])]
    await tools.excel.write_range(path=book, sheet=s, at="A1", rows=rows)
    await tools.excel.format_range(path=book, sheet=s, range="A1:E1", style={"bold": True})
    await tools.excel.set_sheet_layout(path=book, sheet=s, layout={"freeze_panes": "A2", "column_widths_chars": {"A": 20, "C": 26}})

await tools.sqlite.create_table(query="CREATE TABLE IF NOT EXISTS error_hours (service TEXT, hour INTEGER, errors INTEGER, PRIMARY KEY (service, hour))")
await tools.sqlite.write_query(query="DELETE FROM error_hours")
await tools.sqlite.write_query(query="INSERT INTO error_hours VALUES " + ", ".join(f"('{s}', {h}, {int(n)})" for s in services for h, n in hourly[s].items()))
answer = await tools.sqlite.read_query(query="SELECT service, SUM(errors) AS n FROM error_hours GROUP BY service")
db = {r["service"]: r["n"] for r in ast.literal_eval(answer)}

async def count(sheet):
    n, where = 0, None
    while True:
        page = await tools.excel.read_range(path=book, sheet=sheet, max_cells=20000, **({"range": where} if where else {}))
        n += len(page["values"])
        where = page.get("next_range")
        if not where:
            return n - 1
for s in services:
    chart, sheet = int(hourly[s].sum()), await count(s)
    print(f"{s:8} chart {chart}, workbook {sheet}, database {db[s]}:", "agree" if chart == sheet == db[s] else "DIFFER")
