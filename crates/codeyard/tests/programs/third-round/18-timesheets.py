# Request: net hours per person per ISO week, overtime over 40 h, exports/timesheet.xlsx with a sheet per employee and an Overview with a chart
import io
import pandas as pd

desk = "/srv/desk"
path = f"{desk}/exports/timesheet.xlsx"
df = pd.read_csv(io.StringIO((await tools.filesystem.read_text_file(path=f"{desk}/hr/timesheet.csv")).content))
start = pd.to_datetime(df["date"] + " " + df["start"])
finish = pd.to_datetime(df["date"] + " " + df["end"])
finish = finish.where(finish >= start, finish + pd.Timedelta(days=1))
df["hours"] = ((finish - start).dt.total_seconds() / 3600 - df["break_min"] / 60).round(4)
iso = pd.to_datetime(df["date"]).dt.isocalendar()
df["week"] = iso["year"].astype(str) + "-W" + iso["week"].astype(str).str.zfill(2)
weekly = df.groupby(["employee", "week"], as_index=False)["hours"].sum()
weekly["overtime"] = (weekly["hours"] - 40).clip(lower=0)
employees = sorted(df["employee"].unique())
weeks = sorted(df["week"].unique())

await tools.excel.create_workbook(path=path, sheets=["Overview"] + employees, overwrite=True)
hours = weekly.pivot(index="week", columns="employee", values="hours").fillna(0)
over = weekly.groupby("employee")["overtime"].sum()
rows = [["Week"] + employees] + [[w] + [round(float(hours.loc[w, e]), 2) for e in employees] for w in weeks]
rows.append(["Overtime"] + [round(float(over[e]), 2) for e in employees])
last = chr(65 + len(employees))
await tools.excel.write_range(path=path, sheet="Overview", at="A1", rows=rows)
await tools.excel.format_range(path=path, sheet="Overview", range=f"A1:{last}1", style={"bold": True})
await tools.excel.format_range(path=path, sheet="Overview", range=f"A{len(rows)}:{last}{len(rows)}", style={"bold": True})
await tools.excel.format_range(path=path, sheet="Overview", range=f"B2:{last}{len(rows)}", style={"number_format": "0.00"})
await tools.excel.set_sheet_layout(path=path, sheet="Overview", layout={"freeze_panes": "A2", "autofit_columns": [chr(65 + i) for i in range(len(employees) + 1)]})
await tools.excel.create_chart(path=path, sheet="Overview", chart_type="column", at=f"{chr(ord(last) + 2)}2", source=f"A1:{last}{len(weeks) + 1}",
    options={"title": "Net hours per week", "legend": "bottom", "y_axis": {"title": "Hours"}})
for e in employees:
    d = df[df["employee"] == e].sort_values("date")
    block = [["Date", "Week", "Start", "End", "Break (min)", "Net hours"]]
    block += [[r.date, r.week, r.start, r.end, int(r.break_min), round(float(r.hours), 2)] for r in d.itertuples()]
    await tools.excel.write_range(path=path, sheet=e, at="A1", rows=block)
    await tools.excel.write_range(path=path, sheet=e, at="H1", rows=[["Week", "Net hours", "Overtime"]] + [[w.week, round(w.hours, 2), round(w.overtime, 2)] for w in weekly[weekly["employee"] == e].itertuples()])
    await tools.excel.format_range(path=path, sheet=e, range="A1:J1", style={"bold": True})
    await tools.excel.set_sheet_layout(path=path, sheet=e, layout={"freeze_panes": "A2", "autofit_columns": list("ABCDEFHIJ")})
print("Most overtime:", over.idxmax(), round(float(over.max()), 2), "h")
print("Overtime:", over.round(2).to_dict())
weekly.round(2)
