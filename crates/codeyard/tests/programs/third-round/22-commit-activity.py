# Request: commits per week and author over all branches of desk/repo (each commit once) as a chart; the most active author
import re
from datetime import date
import pandas as pd
import matplotlib.pyplot as plt

repo = "/srv/desk/repo"
branches = [l.strip("* ").strip() for l in str(await tools.git.git_branch(repo_path=repo, branch_type="local")).splitlines() if l.strip()]
commits = {}
for b in branches:
    for k in range(500):
        try:
            text = str(await tools.git.git_show(repo_path=repo, revision=f"{b}~{k}"))
        except ToolError:
            break
        sha = re.search(r"\b[0-9a-f]{40}\b", text)[0]
        if sha in commits:
            break
        author = re.search(r"^Author:\s*(.+?)(?:\s*<.*)?$", text, re.M)[1].strip()
        day = re.search(r"^Date:\s*(\d{4}-\d{2}-\d{2})", text, re.M)[1]
        commits[sha] = {"author": author, "date": day}
df = pd.DataFrame(commits.values())
iso = pd.to_datetime(df["date"]).dt.isocalendar()
df["week"] = iso["year"].astype(str) + "-W" + iso["week"].astype(str).str.zfill(2)
table = df.pivot_table(index="week", columns="author", values="date", aggfunc="count", fill_value=0)
ax = table.plot.bar(stacked=True, figsize=(8, 4), rot=45)
ax.set_ylabel("commits")
ax.set_title(f"Commits per week ({len(df)} commits, {len(branches)} branches)")
ax.figure.tight_layout()
counts = df["author"].value_counts()
print("Most active:", ", ".join(counts[counts == counts.max()].index), int(counts.max()), "commits; all:", counts.to_dict(), "total", len(df))
table.reset_index()
