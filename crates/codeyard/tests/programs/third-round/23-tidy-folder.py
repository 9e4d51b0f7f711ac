# Request: all files of the desk (without repo) with sizes, five biggest, empty ones; config.ini debug=false, port=9090 with the diff; archive the first log
import asyncio
import json
import re

desk = "/srv/desk"
tree = json.loads((await tools.filesystem.directory_tree(path=desk, excludePatterns=["repo"])).content)

def walk(nodes, base):
    for n in nodes:
        path = f"{base}/{n['name']}"
        if n["type"] == "directory":
            if path != f"{desk}/repo":
                yield from walk(n["children"], path)
        else:
            yield path

paths = list(walk(tree, desk))
infos = await asyncio.gather(*(tools.filesystem.get_file_info(path=p) for p in paths))
files = [{"file": p[len(desk) + 1:], "bytes": int(re.search(r"^size:\s*(\d+)", i.content, re.M)[1])} for p, i in zip(paths, infos)]
files.sort(key=lambda f: -f["bytes"])

config = (await tools.filesystem.read_text_file(path=f"{desk}/config.ini")).content
edits = []
for key, value in (("debug", "false"), ("port", "9090")):
    m = re.search(rf"^{key}\s*=\s*.*$", config, re.M)
    new = re.sub(r"(=\s*).*", rf"\g<1>{value}", m[0])
    if new != m[0]:
        edits.append({"oldText": m[0], "newText": new})
diff = (await tools.filesystem.edit_file(path=f"{desk}/config.ini", edits=edits)).content
await tools.filesystem.create_directory(path=f"{desk}/archive")
moved = (await tools.filesystem.move_file(source=f"{desk}/logs/app-2026-11-01.jsonl", destination=f"{desk}/archive/app-2026-11-01.jsonl")).content
print("Five biggest:", [(f["file"], f["bytes"]) for f in files[:5]])
print("Empty:", [f["file"] for f in files if f["bytes"] == 0])
print(diff)
print(moved)
files
