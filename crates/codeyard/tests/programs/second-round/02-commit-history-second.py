import re

allowed = (await tools.filesystem.list_allowed_directories()).content
root = next(l.strip() for l in allowed.splitlines() if l.startswith("/"))
repo = f"{root}/repo"
log = await tools.git.git_log(repo_path=repo, max_count=100)
print("date | author | message | files")
for entry in re.split(r"^Commit: ", log, flags=re.M)[1:]:
    sha = entry.split()[0]
    field = lambda name: re.search(rf"^{name}:\s*(.*)$", entry, re.M).group(1).strip()
    diff = await tools.git.git_show(repo_path=repo, revision=sha)
    files = re.findall(r"^\+\+\+ b/(.+)$", diff, re.M)
    print(field("Date")[:16], field("Author"), field("Message"), ", ".join(files), sep=" | ")
