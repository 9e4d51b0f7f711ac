# Request: people of notes/org.md with projects and open action items of notes/ into the memory graph; open items, earliest due first
import re

desk = "/srv/desk"
found = (await tools.filesystem.search_files(path=f"{desk}/notes", pattern="**/*.md")).content
paths = sorted(p.strip() for p in found.splitlines() if p.strip().endswith(".md"))
texts = {p: (await tools.filesystem.read_text_file(path=p)).content for p in paths}

entities, relations, people, projects = [], [], {}, set()
org = next(t for p, t in texts.items() if p.endswith("/org.md"))
for line in org.splitlines():
    m = re.match(r"-\s*(?P<name>[^,]+),\s*(?P<role>[^,]+),\s*(?P<city>[^,]+),\s*(?P<what>leads|works on)\s+project\s+(?P<project>\w+)", line.strip())
    if not m:
        if line.startswith("-"):
            print("not understood:", line)
        continue
    name = m["name"].strip()
    people[name.split()[0].lower()] = name
    projects.add(m["project"])
    entities.append({"name": name, "entityType": "person", "observations": [f"role: {m['role'].strip()}", f"city: {m['city'].strip()}"]})
    relations.append({"from": name, "to": m["project"], "relationType": m["what"].replace(" ", "_")})
for p in sorted(projects):
    entities.append({"name": p, "entityType": "project", "observations": []})

items = []
for path, text in texts.items():
    for m in re.finditer(r"^\s*-\s*\[ \]\s*@(\w+):\s*(.+?)\s*\(due\s+(\d{4}-\d{2}-\d{2})\)", text, re.M):
        items.append({"due": m[3], "person": people.get(m[1].lower(), m[1]), "task": m[2], "note": path.rsplit("/", 1)[-1]})
items.sort(key=lambda i: i["due"])
for i in items:
    entities.append({"name": i["task"], "entityType": "task", "observations": [f"due: {i['due']}", f"from: {i['note']}", "status: open"]})
    relations.append({"from": i["task"], "to": i["person"], "relationType": "assigned_to"})

made = await tools.memory.create_entities(entities=entities)
rel = await tools.memory.create_relations(relations=relations)
print(len(made.entities), "entities and", len(rel.relations), "relations created")
graph = await tools.memory.read_graph()
print("graph now:", len(graph.entities), "entities,", len(graph.relations), "relations")
items
