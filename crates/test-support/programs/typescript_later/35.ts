// Book today's sales out of the inventory, and remember which items have to be reordered.
interface Item { sku: string; stock: number; minimum: number }
const table = "b2_35_inventory";
await tools.sqlite.create_table({ query: `CREATE TABLE IF NOT EXISTS ${table} (sku TEXT PRIMARY KEY, stock INTEGER, minimum INTEGER)` });
await tools.sqlite.write_query({
  query: `INSERT OR REPLACE INTO ${table} (sku, stock, minimum) VALUES ('bolt', 500, 200), ('nut', 220, 200), ('gear', 15, 10)`,
});

const sales: Map<string, number> = new Map([["bolt", 120], ["nut", 60], ["gear", 6]]);
for (const [sku, sold] of sales) {
  const res = await tools.sqlite.write_query({ query: `UPDATE ${table} SET stock = stock - ${sold} WHERE sku = '${sku}'` });
  const affected = Array.isArray(res) ? res[0]?.affected_rows : undefined;
  if (affected !== undefined && affected !== 1) console.log(`warning: ${sku} changed ${affected} rows`);
}

const low: Item[] = await tools.sqlite.read_query({ query: `SELECT sku, stock, minimum FROM ${table} WHERE stock < minimum ORDER BY sku` });
if (low.length > 0) {
  await tools.memory.create_entities({
    entities: low.map(({ sku, stock, minimum }) => ({
      name: `b2_35 reorder ${sku}`,
      entityType: "reorder",
      observations: [`stock ${stock} is below ${minimum}`, `order at least ${minimum * 2 - stock}`],
    })),
  });
}
const { entities } = await tools.memory.search_nodes({ query: "b2_35 reorder" });
return entities.map((e) => `${e.name.split(" ").at(-1)}: ${e.observations.join("; ")}`);
