# Two tables in one mapping, one of them with lists in its cells.
people = [f"person-{n}" for n in range(12)]
await tools.memory.create_entities(
    entities=[{"name": p, "entityType": "person", "observations": [f"likes {p[-1]}", "works here"]} for p in people]
)
await tools.memory.create_relations(
    relations=[{"from": a, "to": b, "relationType": "knows"} for a, b in zip(people, people[1:])]
)
return await tools.memory.read_graph()
