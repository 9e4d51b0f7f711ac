// task: Remember that Ada and Grace work for Acme06 and Linus for Globex06, then tell me who works for Acme06.
// expect: ["Ada06","Grace06"]
await tools.memory.create_entities({
  entities: [
    { name: "Acme06", entityType: "company", observations: ["makes anvils"] },
    { name: "Globex06", entityType: "company", observations: [] },
    { name: "Ada06", entityType: "person", observations: ["likes mathematics"] },
    { name: "Grace06", entityType: "person", observations: ["likes compilers"] },
    { name: "Linus06", entityType: "person", observations: [] },
  ],
});
await tools.memory.create_relations({
  relations: [
    { from: "Ada06", to: "Acme06", relationType: "works_for" },
    { from: "Grace06", to: "Acme06", relationType: "works_for" },
    { from: "Linus06", to: "Globex06", relationType: "works_for" },
  ],
});

const graph = await tools.memory.read_graph();
return graph.relations
  .filter((r) => r.relationType === "works_for" && r.to === "Acme06")
  .map((r) => r.from)
  .sort();
