# Request: Remember that Ana leads project Falcon, Ben and Cho work on it, and Cho also works on project Heron; then tell me who works on what.
await tools.memory.create_entities(entities=[
    {"name": "Ana", "entityType": "person", "observations": ["leads Falcon"]},
    {"name": "Ben", "entityType": "person", "observations": []},
    {"name": "Cho", "entityType": "person", "observations": []},
    {"name": "Falcon", "entityType": "project", "observations": []},
    {"name": "Heron", "entityType": "project", "observations": []},
])
await tools.memory.create_relations(relations=[
    {"from": "Ana", "to": "Falcon", "relationType": "leads"},
    {"from": "Ben", "to": "Falcon", "relationType": "works on"},
    {"from": "Cho", "to": "Falcon", "relationType": "works on"},
    {"from": "Cho", "to": "Heron", "relationType": "works on"},
])
graph = await tools.memory.read_graph()
by_project = {}
for r in graph["relations"]:
    by_project.setdefault(r["to"], []).append(f'{r["from"]} ({r["relationType"]})')
by_project
