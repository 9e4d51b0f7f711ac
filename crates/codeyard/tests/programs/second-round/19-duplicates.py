# Request: Find files with the same content anywhere in files/notes, keep the one with the shortest path, and move the others into files/trash, keeping their folders; empty files don't count.
import asyncio, json
from collections import defaultdict

allowed = (await tools.filesystem.list_allowed_directories()).content
root = next(l.strip() for l in allowed.splitlines() if l.startswith("/"))
notes, trash = f"{root}/files/notes", f"{root}/files/trash"
tree = json.loads((await tools.filesystem.directory_tree(path=notes)).content)
def walk(nodes, base):
    for n in nodes:
        p = f"{base}/{n['name']}"
        if n["type"] == "file":
            yield p
        else:
            yield from walk(n.get("children", []), p)
paths = list(walk(tree, notes))
texts = await asyncio.gather(*(tools.filesystem.read_text_file(path=p) for p in paths))
same = defaultdict(list)
for p, t in zip(paths, texts):
    if t.content:
        same[t.content].append(p)
moved = 0
for group in same.values():
    keep, *others = sorted(group, key=lambda p: (len(p), p))
    for p in others:
        rel = p[len(notes) + 1:]
        folder = f"{trash}/{rel}".rsplit("/", 1)[0]
        await tools.filesystem.create_directory(path=folder)
        await tools.filesystem.move_file(source=p, destination=f"{trash}/{rel}")
        print("moved", rel, "- same as", keep[len(notes) + 1:])
        moved += 1
left = json.loads((await tools.filesystem.directory_tree(path=notes)).content)
print(len(paths), "files before,", moved, "moved,", len(list(walk(left, notes))), "left:", sorted(p[len(notes) + 1:] for p in walk(left, notes)))
