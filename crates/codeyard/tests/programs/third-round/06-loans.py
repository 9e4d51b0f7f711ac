# Request: monthly payment of three loans with the calculator; exports/loans.xlsx with an amortisation schedule each and a summary
path = "/srv/desk/exports/loans.xlsx"
loans = [("L1", 25000, 4.8, 60), ("L2", 180000, 3.15, 240), ("L3", 7200, 0, 36)]
summary = [["Loan", "Principal", "Annual rate", "Months", "Monthly payment", "Total paid", "Total interest"]]
sheets = {}
for name, p, rate, n in loans:
    if rate:
        i = rate / 100 / 12
        expr = f"{p} * ({rate} / 1200) / (1 - (1 + {rate} / 1200) ** (-{n}))"
    else:
        i, expr = 0, f"{p} / {n}"
    answer = await tools.calculator.calculate(expression=expr)
    pay = round(float(answer.result), 2)
    rows, bal, paid = [["Month", "Payment", "Interest", "Principal", "Balance"]], p, 0
    for m in range(1, n + 1):
        interest = round(bal * i, 2)
        this = pay if m < n else round(bal + interest, 2)
        bal = round(bal + interest - this, 2)
        paid = round(paid + this, 2)
        rows.append([m, this, interest, round(this - interest, 2), bal])
    sheets[name] = rows
    summary.append([name, p, rate / 100, n, pay, paid, round(paid - p, 2)])

await tools.excel.create_workbook(path=path, sheets=["Summary"] + list(sheets), overwrite=True)
await tools.excel.write_range(path=path, sheet="Summary", at="A1", rows=summary)
await tools.excel.format_range(path=path, sheet="Summary", range="A1:G1", style={"bold": True})
await tools.excel.format_range(path=path, sheet="Summary", range="B2:B4", style={"number_format": "#,##0.00"})
await tools.excel.format_range(path=path, sheet="Summary", range="C2:C4", style={"number_format": "0.00%"})
await tools.excel.format_range(path=path, sheet="Summary", range="E2:G4", style={"number_format": "#,##0.00"})
await tools.excel.set_sheet_layout(path=path, sheet="Summary", layout={"autofit_columns": list("ABCDEFG")})
for name, rows in sheets.items():
    await tools.excel.write_range(path=path, sheet=name, at="A1", rows=rows)
    await tools.excel.format_range(path=path, sheet=name, range="A1:E1", style={"bold": True})
    await tools.excel.format_range(path=path, sheet=name, range=f"B2:E{len(rows)}", style={"number_format": "#,##0.00"})
    await tools.excel.set_sheet_layout(path=path, sheet=name, layout={"freeze_panes": "A2", "autofit_columns": list("ABCDE")})
for name, rows in sheets.items():
    print(name, "last row:", rows[-1])
[dict(zip(summary[0], r)) for r in summary[1:]]
