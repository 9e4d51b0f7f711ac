# Request: release notes (Markdown) from all main line commits since 8 October 2026 by author, fixes first; diff summary of hotfix/rounding; as a file
import re
from pathlib import Path

repo = "/srv/desk/repo"
tip = re.search(r"\b[0-9a-f]{40}\b", str(await tools.git.git_show(repo_path=repo, revision="master")))[0]
log = str(await tools.git.git_log(repo_path=repo, max_count=1000))
commits = []
for block in re.split(r"^Commit:\s*", log, flags=re.M)[1:]:
    sha = re.search(r"[0-9a-f]{40}", block)[0]
    author = re.search(r"^Author:\s*(.+)$", block, re.M)[1].strip()
    date = re.search(r"^Date:\s*(.+)$", block, re.M)[1].strip()
    message = re.search(r"^Message:\s*(.*)", block, re.M | re.S)[1].strip()
    commits.append({"sha": sha, "author": author, "date": date, "message": message.splitlines()[0] if message else ""})
shas = [c["sha"] for c in commits]
if tip not in shas:
    raise RuntimeError("master is not part of the history of the current branch")
main = [c for c in commits[shas.index(tip):] if c["date"][:10] >= "2026-10-08"]

try:
    diff = str(await tools.git.git_diff(repo_path=repo, target="master...hotfix/rounding"))
    how = "git_diff"
except ToolError as e:
    print("git_diff:", e)
    diff, how = "", "git_show"
    on_main = set(shas[shas.index(tip):])
    for k in range(100):
        text = str(await tools.git.git_show(repo_path=repo, revision=f"hotfix/rounding~{k}"))
        if re.search(r"\b[0-9a-f]{40}\b", text)[0] in on_main:
            break
        diff += text + "\n"
summary, file = {}, None
for line in diff.splitlines():
    m = re.match(r"(?:---|\+\+\+) (?:[ab]/)?(\S+)", line)
    if m:
        file = m[1] if m[1] != "/dev/null" else file
        if file:
            summary.setdefault(file, [0, 0])
    elif file and line.startswith("+"):
        summary[file][0] += 1
    elif file and line.startswith("-"):
        summary[file][1] += 1

fix = lambda c: not re.match(r"(fix|hotfix|bug)", c["message"], re.I)
lines = ["# Release notes", "", f"{len(main)} commits on master since 2026-10-08", ""]
for author in sorted({c["author"] for c in main}):
    lines += [f"## {author}", ""]
    lines += [f"- {c['message']} ({c['sha'][:7]}, {c['date'][:10]})" for c in sorted((c for c in main if c["author"] == author), key=fix)]
    lines.append("")
lines += ["## hotfix/rounding against master", ""]
lines += [f"- {f}: +{a} -{d}" for f, (a, d) in summary.items()] + [""]
lines += ["```diff", *[l for l in diff.splitlines() if l[:1] in "+-@ "], "```", ""]
notes = "\n".join(lines)
Path("/results/release_notes.md").write_text(notes)
print(notes)
