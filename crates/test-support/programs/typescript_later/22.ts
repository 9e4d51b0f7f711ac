// Store which service depends on which and find the shortest chain from the web shop to the mail server.
const p = "b2_22_";
const edges: [string, string][] = [
  ["shop", "cart"],
  ["shop", "catalog"],
  ["cart", "payment"],
  ["payment", "notifier"],
  ["catalog", "search"],
  ["search", "notifier"],
  ["notifier", "mail"],
];
const names = [...new Set(edges.flat())];
await tools.memory.create_entities({ entities: names.map((n) => ({ name: p + n, entityType: "service", observations: ["blind test"] })) });
await tools.memory.create_relations({ relations: edges.map(([a, b]) => ({ from: p + a, to: p + b, relationType: "depends_on" })) });

const { relations } = await tools.memory.read_graph();
const next: Record<string, string[]> = {};
for (const r of relations.filter((r) => r.from.startsWith(p) && r.relationType === "depends_on")) {
  (next[r.from] ||= []).push(r.to);
}

function shortest(from: string, to: string): string[] | null {
  const queue: string[][] = [[from]];
  const seen = new Set<string>([from]);
  while (queue.length > 0) {
    const chain = queue.shift()!;
    const end = chain[chain.length - 1];
    if (end === to) return chain;
    for (const n of next[end] ?? []) {
      if (seen.has(n)) continue;
      seen.add(n);
      queue.push([...chain, n]);
    }
  }
  return null;
}
const chain = shortest(`${p}shop`, `${p}mail`);
return chain ? chain.map((n) => n.slice(p.length)).join(" -> ") : "no chain";
