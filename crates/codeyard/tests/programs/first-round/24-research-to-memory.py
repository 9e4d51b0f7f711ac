# Request: Run the simulated research on "solid-state batteries" and on "sodium-ion batteries" at the same time, save both reports in /srv/desk/files/research, and remember in the knowledge graph where they are.
import asyncio
base = "/srv/desk/files/research"
topics = ["solid-state batteries", "sodium-ion batteries"]
reports = await asyncio.gather(*[tools.everything.simulate_research_query(topic=t) for t in topics])
await tools.filesystem.create_directory(path=base)
entities = []
for t, r in zip(topics, reports):
    path = f"{base}/{t.replace(' ', '-')}.md"
    await tools.filesystem.write_file(path=path, content=str(r))
    entities.append({"name": t, "entityType": "research topic", "observations": [f"report saved at {path}", f"{len(str(r))} characters"]})
await tools.memory.create_entities(entities=entities)
print((await tools.memory.open_nodes(names=topics))["entities"])
print(reports[0][:600])
