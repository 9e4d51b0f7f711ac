# Request: Give me the history of my repository as a table: date, author, message, files touched.
import re

allowed = (await tools.filesystem.list_allowed_directories()).content
root = next(l.strip() for l in allowed.splitlines() if l.startswith("/"))
repo = f"{root}/repo"
log = await tools.git.git_log(repo_path=repo, max_count=100)
shas = re.findall(r"\b[0-9a-f]{40}\b", str(log))
rows = []
for sha in dict.fromkeys(shas):
    text = str(await tools.git.git_show(repo_path=repo, revision=sha))
    def field(name):
        m = re.search(rf"^{name}:\s*(.*)$", text, re.M)
        return m.group(1).strip() if m else "?"
    files = re.findall(r"^\+\+\+ (?:b/)?(\S+)", text, re.M)
    message = field("Message").strip("'\"")
    author = re.sub(r'<git\.Actor "(.*?) <.*', r"\1", field("Author"))
    rows.append((field("Date")[:16], author, message, ", ".join(files) or "?"))
if any("?" in r for r in rows) or not rows:
    print("not all understood; the log begins:\n", str(log)[:400])
    if shas:
        print("one commit:\n", str(await tools.git.git_show(repo_path=repo, revision=shas[0]))[:800])
print("date | author | message | files")
for r in rows:
    print(" | ".join(r))
