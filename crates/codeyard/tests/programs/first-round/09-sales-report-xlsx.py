# Request: Take the sales table from the database and make an Excel report /srv/desk/files/sales_report.xlsx with months as rows, regions as columns, a total column with formulas, and a line chart.
import ast
import pandas as pd
text = await tools.sqlite.read_query(query="SELECT month, region, SUM(revenue) AS revenue FROM sales GROUP BY month, region")
df = pd.DataFrame(ast.literal_eval(text))
p = df.pivot(index="month", columns="region", values="revenue").reset_index()
path = "/srv/desk/files/sales_report.xlsx"
await tools.excel.create_workbook(path=path, sheets=["Report"], overwrite=True)
regions = [c for c in p.columns if c != "month"]
rows = [["Month"] + regions + ["Total"]]
for i, r in enumerate(p.itertuples(index=False), 2):
    rows.append(list(r) + [f"=SUM(B{i}:D{i})"])
rows.append(["Sum"] + [f"=SUM({c}2:{c}13)" for c in "BCDE"])
await tools.excel.write_range(path=path, sheet="Report", at="A1", rows=rows)
chart = await tools.excel.create_chart(path=path, sheet="Report", chart_type="line", source="A1:D13", at="G2", name="Revenue")
print(chart)
back = await tools.excel.read_range(path=path, sheet="Report", range="A1:E14")
for row in back["values"]:
    print(row)
