# Request: Remember our team in the knowledge graph (six persons, three projects, who works on what, who reports to whom), then tell me who is linked to Ana in at most two steps.
from collections import defaultdict, deque

persons = {"Ana": "leads the data team", "Ben": "writes the backend", "Chloé": "designs", "Dev": "runs the servers", "Mia": "writes the frontend", "Omar": "tests"}
projects = {"Atlas": "the new map", "Beacon": "alerts", "Comet": "the fast search"}
works = [("Ana", "Atlas"), ("Ben", "Atlas"), ("Mia", "Beacon"), ("Mia", "Comet"), ("Chloé", "Beacon"), ("Dev", "Comet"), ("Omar", "Comet")]
reports = [("Ben", "Ana"), ("Mia", "Ben"), ("Chloé", "Omar"), ("Dev", "Omar")]
await tools.memory.create_entities(entities=[{"name": n, "entityType": "person", "observations": [o]} for n, o in persons.items()]
    + [{"name": n, "entityType": "project", "observations": [o]} for n, o in projects.items()])
await tools.memory.create_relations(relations=[{"from": a, "to": b, "relationType": "works on"} for a, b in works]
    + [{"from": a, "to": b, "relationType": "reports to"} for a, b in reports])
graph = await tools.memory.read_graph()
print(len(graph["entities"]), "entities,", len(graph["relations"]), "relations remembered")
links = defaultdict(list)
for r in graph["relations"]:
    links[r["from"]].append((r["to"], r["relationType"]))
    links[r["to"]].append((r["from"], r["relationType"] + " (from)"))
dist, via, todo = {"Ana": 0}, {}, deque(["Ana"])
while todo:
    n = todo.popleft()
    if dist[n] == 2:
        continue
    for m, kind in links[n]:
        if m not in dist:
            dist[m], via[m] = dist[n] + 1, (n, kind)
            todo.append(m)
types = {e["name"]: e["entityType"] for e in graph["entities"]}
for n in sorted(dist, key=lambda n: (dist[n], n)):
    if n != "Ana":
        print(dist[n], "step(s):", n, f"({types.get(n)})", "through", via[n][0], "-", via[n][1])
print("farther:", sorted(n for n in types if n not in dist and types[n] == "person"))
