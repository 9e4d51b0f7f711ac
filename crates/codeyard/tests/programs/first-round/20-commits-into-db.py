# Request: Put the commit history of my repository (hash, author, date, message, number of changed files) into a table "commits" of the database, and list commits per day.
import asyncio
import re
repo = "/srv/desk/repo"
log = await tools.git.git_log(repo_path=repo, max_count=100)
commits = []
for part in re.split(r"(?m)^Commit: ", log)[1:]:
    sha = part.split()[0]
    author = re.search(r"^Author: (.*)$", part, re.M).group(1)
    date = re.search(r"^Date: (.*)$", part, re.M).group(1)
    message = re.search(r"^Message: (.*)", part, re.M | re.S).group(1).strip()
    commits.append([sha, author, date, message])
shows = await asyncio.gather(*[tools.git.git_show(repo_path=repo, revision=c[0]) for c in commits])
for c, s in zip(commits, shows):
    c.append(len(re.findall(r"^\+\+\+ |^Binary files ", s, re.M)))
await tools.sqlite.create_table(query="CREATE TABLE IF NOT EXISTS commits (hash TEXT PRIMARY KEY, author TEXT, date TEXT, message TEXT, files INTEGER)")
q = lambda s: "'" + str(s).replace("'", "''") + "'"
values = ", ".join(f"({q(a)}, {q(b)}, {q(c)}, {q(d)}, {e})" for a, b, c, d, e in commits)
print(await tools.sqlite.write_query(query=f"INSERT OR REPLACE INTO commits VALUES {values}"))
print(await tools.sqlite.read_query(query="SELECT substr(hash,1,8) AS hash, author, message, files FROM commits ORDER BY date"))
print(await tools.sqlite.read_query(query="SELECT substr(date,1,10) AS day, COUNT(*) AS commits FROM commits GROUP BY day"))
