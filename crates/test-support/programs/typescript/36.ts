// task: Store train links between cities in the memory graph and find the shortest route from Oslo36 to Rome36.
// expect: ["Oslo36","London36","Rome36"]
const links = [
  ["Oslo36", "Hamburg36"], ["Hamburg36", "Munich36"], ["Munich36", "Rome36"],
  ["Oslo36", "London36"], ["London36", "Rome36"],
] as const;

const cities = [...new Set(links.flat())];
await tools.memory.create_entities({
  entities: cities.map((name) => ({ name, entityType: "city36", observations: [] as string[] })),
});
await tools.memory.create_relations({
  relations: links.map(([from, to]) => ({ from, to, relationType: "connects_to" })),
});

const { relations } = await tools.memory.open_nodes({ names: cities });
const next = new Map<string, string[]>();
for (const { from, to, relationType } of relations) {
  if (relationType !== "connects_to") continue;
  if (!next.has(from)) next.set(from, []);
  next.get(from)!.push(to);
}

function shortest(start: string, goal: string): string[] | null {
  const queue: string[][] = [[start]];
  const seen = new Set([start]);
  while (queue.length) {
    const route = queue.shift()!;
    const here = route[route.length - 1];
    if (here === goal) return route;
    for (const n of next.get(here) ?? []) {
      if (!seen.has(n)) { seen.add(n); queue.push([...route, n]); }
    }
  }
  return null;
}
return shortest("Oslo36", "Rome36");
