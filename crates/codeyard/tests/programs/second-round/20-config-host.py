# Request: In all service.ini files below files/configs the database host db-old.example.com becomes db-new.example.com: show what would change, then change it and verify.
import configparser

allowed = (await tools.filesystem.list_allowed_directories()).content
root = next(l.strip() for l in allowed.splitlines() if l.startswith("/"))
base = f"{root}/files/configs"
found = (await tools.filesystem.search_files(path=base, pattern="**/service.ini")).content
paths = sorted(p for p in found.splitlines() if p.endswith("service.ini"))
def host(text):
    c = configparser.ConfigParser()
    c.read_string(text)
    return c["database"]["host"]
todo = [p for p in paths if host((await tools.filesystem.read_text_file(path=p)).content) == "db-old.example.com"]
edits = [{"oldText": "host = db-old.example.com", "newText": "host = db-new.example.com"}]
print(len(paths), "files,", len(todo), "to change")
for p in todo:
    diff = (await tools.filesystem.edit_file(path=p, edits=edits, dryRun=True)).content
    print(p[len(base) + 1:], *[l for l in diff.splitlines() if l[:1] in "+-" and l[:3] not in ("+++", "---")], sep="\n  ")
for p in todo:
    await tools.filesystem.edit_file(path=p, edits=edits)
for p in paths:
    print("now", p[len(base) + 1:], host((await tools.filesystem.read_text_file(path=p)).content))
