// task: Join the price list in an Excel workbook with the stock quantities in SQLite and tell me the value of the stock per product and in total.
// expect: Widget 100, Doohickey 58, Gadget 30, total 188
const path = "DATA/files/prices13.xlsx";
await tools.excel.create_workbook({ path, sheets: ["Prices"], overwrite: true });
await tools.excel.write_range({
  path, sheet: "Prices", at: "A1",
  rows: [["sku", "price"], ["Widget", 2.5], ["Gadget", 10], ["Doohickey", 7.25]],
});

await tools.sqlite.create_table({ query: "CREATE TABLE IF NOT EXISTS stock13 (sku TEXT PRIMARY KEY, qty INTEGER)" });
await tools.sqlite.write_query({
  query: "INSERT OR REPLACE INTO stock13 (sku, qty) VALUES ('Widget', 40), ('Gadget', 3), ('Doohickey', 8)",
});

const [sheet, stockRaw] = await Promise.all([
  tools.excel.read_range({ path, sheet: "Prices" }),
  tools.sqlite.read_query({ query: "SELECT sku, qty FROM stock13" }),
]);
const stock: { sku: string; qty: number }[] = typeof stockRaw === "string" ? JSON.parse(stockRaw) : stockRaw;

const priceBySku = new Map(sheet.values.slice(1).map(([sku, price]) => [String(sku), Number(price)]));
const lines = stock
  .map(({ sku, qty }) => ({ sku, value: qty * (priceBySku.get(sku) ?? 0) }))
  .sort((a, b) => b.value - a.value);

return { lines, total: lines.reduce((s, l) => s + l.value, 0) };
