# Request: which branches does desk/repo have, how far ahead of the main line, which commits and files, anything uncommitted
import re

repo = "/srv/desk/repo"
listing = str(await tools.git.git_branch(repo_path=repo, branch_type="local"))
status = str(await tools.git.git_status(repo_path=repo))
names, current = [], None
for line in listing.splitlines():
    line = line.strip()
    m = re.fullmatch(r"(\*\s+)?(\S+)", line)
    if m:
        names.append(m[2])
        if m[1]:
            current = m[2]
main = next((n for n in ("main", "master") if n in names), current)
log = str(await tools.git.git_log(repo_path=repo, max_count=500))
on_main = set(re.findall(r"\b[0-9a-f]{40}\b", log))

def field(name, text):
    m = re.search(rf"^{name}:\s*(.+)$", text, re.M)
    return m[1].strip().strip("'\"") if m else ""

out = []
for b in names:
    if b == main:
        continue
    for k in range(50):
        try:
            text = str(await tools.git.git_show(repo_path=repo, revision=f"{b}~{k}"))
        except ToolError as e:
            print(b, k, e)
            break
        sha = re.search(r"\b[0-9a-f]{40}\b", text)[0]
        if sha in on_main:
            out.append({"branch": b, "ahead": k, "commit": "", "author": "", "date": "", "message": "", "files": ""})
            out[-1:] = [o for o in out[-1:] if k == 0]
            for o in out:
                if o["branch"] == b:
                    o["ahead"] = k
            break
        files = sorted(set(re.findall(r"^(?:\+\+\+|---) [ab]/(.+)$", text, re.M)) | set(re.findall(r"^diff --git a/(\S+)", text, re.M)))
        out.append({"branch": b, "ahead": None, "commit": sha[:7], "author": field("Author", text), "date": field("Date", text),
                    "message": field("Message", text), "files": " ".join(files)})
print(listing)
print("main line:", main, "- commits on it:", len(on_main), "- current:", current)
print(status)
out
