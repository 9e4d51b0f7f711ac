# Request: In /srv/desk/files make a folder "notes" with one markdown file per weekday (Monday to Friday) containing a small template, then show me the folder tree.
import asyncio
import json
base = "/srv/desk/files/notes"
await tools.filesystem.create_directory(path=base)
days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
await asyncio.gather(*[
    tools.filesystem.write_file(path=f"{base}/{i}-{d.lower()}.md", content=f"# {d}\n\n## Goals\n- [ ] \n\n## Notes\n")
    for i, d in enumerate(days, 1)
])
tree = await tools.filesystem.directory_tree(path="/srv/desk/files")
for entry in json.loads(tree["content"]):
    print(entry["name"], entry["type"])
    for child in entry.get("children", []):
        print("   ", child["name"])
