// Remember the members of the Apollo team and who reports to whom, then show me the org chart.
const people = [
  { name: "b2_05 Maria Lopez", role: "manager" },
  { name: "b2_05 Ken Adams", role: "engineer", boss: "b2_05 Maria Lopez" },
  { name: "b2_05 Ines Roth", role: "engineer", boss: "b2_05 Maria Lopez" },
  { name: "b2_05 Tom Baker", role: "intern", boss: "b2_05 Ines Roth" },
];

await tools.memory.create_entities({
  entities: people.map((p) => ({ name: p.name, entityType: "person", observations: [`role: ${p.role}`, "team: Apollo"] })),
});
await tools.memory.create_relations({
  relations: people.filter((p) => p.boss).map((p) => ({ from: p.name, to: p.boss!, relationType: "reports_to" })),
});

const graph = await tools.memory.open_nodes({ names: people.map((p) => p.name) });
const reports = new Map<string, string[]>();
for (const { from, to, relationType } of graph.relations) {
  if (relationType !== "reports_to") continue;
  reports.set(to, [...(reports.get(to) ?? []), from]);
}

const lines: string[] = [];
function walk(name: string, depth: number): void {
  lines.push("  ".repeat(depth) + name.replace(/^b2_05 /, ""));
  for (const child of reports.get(name) ?? []) walk(child, depth + 1);
}
walk("b2_05 Maria Lopez", 0);
return lines.join("\n");
