# Request: Load files/visits.csv into the database and show a retention heatmap of the monthly cohorts.
import ast, csv, io
import pandas as pd
import seaborn as sns
import matplotlib.pyplot as plt

async def q(sql):
    r = await tools.sqlite.read_query(query=sql)
    return ast.literal_eval(r) if isinstance(r, str) else r

allowed = (await tools.filesystem.list_allowed_directories()).content
root = next(l.strip() for l in allowed.splitlines() if l.startswith("/"))
text = (await tools.filesystem.read_text_file(path=f"{root}/files/visits.csv")).content
visits = [(r["user_id"], r["visit_date"]) for r in csv.DictReader(io.StringIO(text))]
await tools.sqlite.create_table(query="CREATE TABLE IF NOT EXISTS visits (user_id TEXT, visit_date TEXT)")
await tools.sqlite.write_query(query="DELETE FROM visits")
for i in range(0, len(visits), 400):
    await tools.sqlite.write_query(query="INSERT INTO visits VALUES " + ", ".join(f"('{u}', '{d}')" for u, d in visits[i:i + 400]))
print("rows in the file and the database:", len(visits), (await q("SELECT COUNT(*) AS n FROM visits"))[0]["n"])
rows = await q("""WITH m AS (SELECT DISTINCT user_id, substr(visit_date, 1, 7) AS month FROM visits),
    f AS (SELECT user_id, MIN(month) AS cohort FROM m GROUP BY user_id)
    SELECT f.cohort, (substr(m.month, 1, 4) - substr(f.cohort, 1, 4)) * 12 + substr(m.month, 6) - substr(f.cohort, 6) AS age, COUNT(*) AS users
    FROM m JOIN f USING (user_id) GROUP BY 1, 2 ORDER BY 1, 2""")
counts = pd.DataFrame(rows).pivot(index="cohort", columns="age", values="users")
share = counts.div(counts[0], axis=0)
fig, ax = plt.subplots(figsize=(6.5, 3.8))
sns.heatmap(share, annot=True, fmt=".0%", cmap="Blues", vmin=0, vmax=1, ax=ax)
ax.set(xlabel="months since the first visit", ylabel="cohort", title="Retention")
fig.tight_layout()
show(fig)
print("users per cohort:", counts[0].astype(int).to_dict())
print("after one month:", share[1].dropna().map("{:.0%}".format).to_dict())
