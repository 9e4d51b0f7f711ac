# Request: (continues 9) Mia has left: give her projects to Ben, take her out, note it on Ben, and show before and after.
def lines(g):
    return sorted(f"{r['from']} {r['relationType']} {r['to']}" for r in g["relations"])

before = await tools.memory.read_graph()
mine = [r for r in before["relations"] if "Mia" in (r["from"], r["to"])]
new = [{"from": "Ben", "to": r["to"], "relationType": r["relationType"]} for r in mine if r["from"] == "Mia" and types.get(r["to"]) == "project"]
# Whoever reported to Mia reports to the one Mia reported to.
boss = next((r["to"] for r in mine if r["from"] == "Mia" and r["relationType"] == "reports to"), None)
new += [{"from": r["from"], "to": boss, "relationType": "reports to"} for r in mine if r["to"] == "Mia" and r["relationType"] == "reports to" and boss]
await tools.memory.create_relations(relations=new)
await tools.memory.add_observations(observations=[{"entityName": "Ben", "contents": ["took over " + " and ".join(r["to"] for r in new if r["from"] == "Ben") + " from Mia, who left"]}])
await tools.memory.delete_entities(entityNames=["Mia"])
after = await tools.memory.read_graph()
b, a = set(lines(before)), set(lines(after))
print("gone:", *sorted(b - a), sep="\n  ")
print("new:", *sorted(a - b), sep="\n  ")
print("entities:", len(before["entities"]), "->", len(after["entities"]), "| Mia still there:", any(e["name"] == "Mia" for e in after["entities"]))
print("Ben:", next(e["observations"] for e in after["entities"] if e["name"] == "Ben"))
