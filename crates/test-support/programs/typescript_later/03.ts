// Make a workbook of this quarter's sales per product with a total per row and a grand total, and tell me the best product.
const path = "DATA/files/b2_03_quarter_sales.xlsx";
await tools.excel.create_workbook({ path, sheets: ["Q1"], overwrite: true });

const products: [string, number, number, number][] = [
  ["Keyboard", 1200, 1350, 1100],
  ["Mouse", 800, 950, 1020],
  ["Monitor", 5400, 4900, 6100],
  ["Headset", 2100, 1800, 2250],
];
const rows = [
  ["Product", "Jan", "Feb", "Mar", "Total"],
  ...products.map((p, i) => [...p, `=SUM(B${i + 2}:D${i + 2})`]),
  ["Total", "=SUM(B2:B5)", "=SUM(C2:C5)", "=SUM(D2:D5)", "=SUM(E2:E5)"],
];
await tools.excel.write_range({ path, sheet: "Q1", at: "A1", rows });
await tools.excel.format_range({ path, sheet: "Q1", range: "A1:E1", style: { bold: true, horizontal_alignment: "center" } });
await tools.excel.format_range({ path, sheet: "Q1", range: "B2:E6", style: { number_format: "#,##0" } });

const { values } = await tools.excel.read_range({ path, sheet: "Q1", range: "A2:E6" });
const totals = values.map((r) => ({ name: String(r[0]), total: Number(r[4]) }));
const grand = totals.pop()!;
const best = totals.reduce((a, b) => (b.total > a.total ? b : a));
console.log(`Best: ${best.name} with ${best.total.toLocaleString("en-US")} of ${grand.total.toLocaleString("en-US")}`);
return { best, grand: grand.total, share: +((best.total / grand.total) * 100).toFixed(1) };
