# Request: four meetings' times in UTC, Tokyo and São Paulo, and exports/meetings.xlsx with a sheet Schedule
path = "/srv/desk/exports/meetings.xlsx"
meetings = [("Kickoff", "09:30", "Europe/Berlin"), ("Vendor call", "16:00", "America/New_York"),
            ("Ops sync", "08:15", "Asia/Singapore"), ("Board", "18:45", "Europe/Sofia")]
targets = [("UTC", "UTC"), ("Tokyo", "Asia/Tokyo"), ("São Paulo", "America/Sao_Paulo")]

rows = [["Meeting", "Local time", "Time zone"] + [t for t, _ in targets]]
for title, at, zone in meetings:
    row = [title, at, zone]
    for _, target in targets:
        c = await tools.time.convert_time(source_timezone=zone, time=at, target_timezone=target)
        src, dst = c.source.datetime[:10], c.target.datetime[:10]
        text = c.target.datetime[11:16]
        if dst > src:
            text += " (+1 day)"
        elif dst < src:
            text += " (-1 day)"
        row.append(text)
    rows.append(row)

await tools.excel.create_workbook(path=path, sheets=["Schedule"], overwrite=True)
await tools.excel.write_range(path=path, sheet="Schedule", at="A1", rows=rows)
await tools.excel.format_range(path=path, sheet="Schedule", range="A1:F1", style={"bold": True})
await tools.excel.set_sheet_layout(path=path, sheet="Schedule", layout={
    "column_widths_chars": {"A": 16, "B": 12, "C": 20, "D": 16, "E": 16, "F": 16}, "freeze_panes": "A2"})
back = await tools.excel.read_range(path=path, sheet="Schedule", range="A1:F5")
for r in back["values"]:
    print(" | ".join(str(v) for v in r))
