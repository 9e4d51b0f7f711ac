# Request: Write files/report.md: open to-dos from my notes, the last commits, what the database holds (tables and rows), disk use of my folders; and give me the five most important lines.
import ast, asyncio, json, re

allowed = (await tools.filesystem.list_allowed_directories()).content
root = next(l.strip() for l in allowed.splitlines() if l.startswith("/"))
files = f"{root}/files"
# Open to-dos
found = (await tools.filesystem.search_files(path=f"{files}/notes", pattern="**/*.md")).content
todos = []
for p in found.splitlines():
    if p.endswith(".md"):
        text = (await tools.filesystem.read_text_file(path=p)).content
        todos += [(l.strip()[6:], p[len(files) + 1:]) for l in text.splitlines() if l.strip().startswith("- [ ] ")]
# Commits
log = await tools.git.git_log(repo_path=f"{root}/repo", max_count=5)
commits = [tuple(re.search(rf"^{n}:\s*(.*)$", e, re.M).group(1) for n in ("Date", "Author", "Message")) for e in re.split(r"^Commit: ", log, flags=re.M)[1:]]
# Database
async def q(sql):
    r = await tools.sqlite.read_query(query=sql)
    if isinstance(r, str):
        if r.lower().startswith(("error", "database error")):
            raise RuntimeError(r)
        r = ast.literal_eval(r)
    return r
tables = {t["name"]: (await q(f'SELECT COUNT(*) AS n FROM "{t["name"]}"'))[0]["n"] for t in await q("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")}
# Disk use
def walk(nodes, base):
    for n in nodes:
        p = f"{base}/{n['name']}"
        if n["type"] == "file":
            yield p
        else:
            yield from walk(n.get("children", []), p)
tree = json.loads((await tools.filesystem.directory_tree(path=files)).content)
paths = list(walk(tree, files))
infos = await asyncio.gather(*(tools.filesystem.get_file_info(path=p) for p in paths))
use = {}
for p, i in zip(paths, infos):
    size = int(re.search(r"size:\s*(\d+)", i.content).group(1))
    parts = p[len(files) + 1:].split("/")
    top = parts[0] if len(parts) > 1 else "(loose files)"
    use[top] = use.get(top, 0) + size
kb = lambda n: f"{n / 1024:,.1f} KB"
md = ["# Report of the week", "", "## Open to-dos", *[f"- {t} ({p})" for t, p in todos], "", "## Last commits", *[f"- {d[:10]} {a}: {m}" for d, a, m in commits],
      "", "## Database", *[f"- {t}: {n} rows" for t, n in tables.items()], "", "## Disk use", *[f"- {f}: {kb(n)}" for f, n in sorted(use.items(), key=lambda x: -x[1])], ""]
await tools.filesystem.write_file(path=f"{files}/report.md", content="\n".join(md))
big = max(use, key=use.get)
print(len(todos), "open to-dos:", "; ".join(t for t, _ in todos))
print("last commit:", *commits[0])
print("database:", len(tables), "tables,", sum(tables.values()), "rows, largest", max(tables, key=tables.get))
print("disk:", kb(sum(use.values())), "in", len(paths), "files, most in", big, kb(use[big]))
print("report written:", len(md) - 1, "lines in", f"{files}/report.md")
