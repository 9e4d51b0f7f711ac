# Request: hr/budget.csv with German numbers: deviation per department, grouped bar chart, worst month; exports/budget.png and exports/budget_summary.csv
import io
import pandas as pd
import matplotlib.pyplot as plt
from mcp import runtime

desk = "/srv/desk"
text = (await tools.filesystem.read_text_file(path=f"{desk}/hr/budget.csv")).content
df = pd.read_csv(io.StringIO(text), sep=";", decimal=",", thousands=".", dtype={"month": str})
dep = df.groupby("department")[["planned", "actual"]].sum()
dep["deviation_percent"] = ((dep["actual"] / dep["planned"] - 1) * 100).round(2)
month = df.groupby("month")[["planned", "actual"]].sum()
month["overrun"] = month["actual"] - month["planned"]
worst = month["overrun"].idxmax()

ax = dep[["planned", "actual"]].plot.bar(figsize=(7, 4), rot=0, color=["#9db7d5", "#d9772b"])
ax.set_title("Planned and actual per department")
ax.set_xlabel("")
ax.figure.tight_layout()
ax.figure.savefig("budget.png", dpi=120)

await tools.filesystem.write_file(path=f"{desk}/exports/budget_summary.csv", content=dep.round(2).to_csv(lineterminator="\n"))
try:
    print(await tools.filesystem.move_file(source=runtime.host_path("budget.png"), destination=f"{desk}/exports/budget.png"))
except ToolError as e:
    print("The chart could not be saved on the desk:", e)
print(f"Worst month: {worst}, overrun {month.loc[worst, 'overrun']:,.2f} ({(month.loc[worst, 'actual'] / month.loc[worst, 'planned'] - 1) * 100:.1f} %)")
dep.round(2).reset_index()
