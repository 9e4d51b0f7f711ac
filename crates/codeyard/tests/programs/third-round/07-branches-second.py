# Request: which branches does desk/repo have, how far ahead of the main line, which commits and files, anything uncommitted
import re

repo = "/srv/desk/repo"
listing = str(await tools.git.git_branch(repo_path=repo, branch_type="local"))
status = str(await tools.git.git_status(repo_path=repo))
names = [l.strip("* ").strip() for l in listing.splitlines() if l.strip()]
main = next(n for n in ("main", "master") if n in names)

async def walk(branch, stop=()):
    commits = []
    for k in range(200):
        try:
            text = str(await tools.git.git_show(repo_path=repo, revision=f"{branch}~{k}"))
        except ToolError:
            break
        sha = re.search(r"\b[0-9a-f]{40}\b", text)[0]
        if sha in stop:
            break
        commits.append((sha, text))
    return commits

on_main = {sha for sha, _ in await walk(main)}
out = []
for b in names:
    if b == main:
        continue
    commits = await walk(b, on_main)
    for sha, text in commits:
        head = re.split(r"^diff --git", text, maxsplit=1, flags=re.M)[0]
        author = re.search(r"^Author:\s*(.+)$", head, re.M)
        date = re.search(r"^Date:\s*(.+)$", head, re.M)
        rest = re.sub(r"^(commit\b.*|Commit:.*|Author:.*|Date:.*|Message:\s*)$", "", head, flags=re.M).replace("Message:", "")
        out.append({"branch": b, "ahead": len(commits), "commit": sha[:7], "author": author[1] if author else "", "date": date[1] if date else "",
                    "message": " ".join(rest.split()).strip("'\""), "files": " ".join(sorted(set(re.findall(r"^diff --git a/(\S+)", text, re.M))))})
print(listing)
print("main line:", main, "- commits on it:", len(on_main))
print(status)
out
