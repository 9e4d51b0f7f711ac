// task: Create a sales workbook with quantities, unit prices, a line total formula and a grand total, and read back the results.
// expect: line totals 25, 60 and 31.5, and a grand total of 116.5
const path = "DATA/files/sales07.xlsx";
await tools.excel.create_workbook({ path, sheets: ["Sales"], overwrite: true });

const items: Array<{ product: string; qty: number; price: number }> = [
  { product: "Pens", qty: 10, price: 2.5 },
  { product: "Books", qty: 4, price: 15 },
  { product: "Mugs", qty: 7, price: 4.5 },
];

const rows: (string | number)[][] = [["Product", "Qty", "Price", "Total"]];
items.forEach(({ product, qty, price }, i) => {
  const r = i + 2;
  rows.push([product, qty, price, `=B${r}*C${r}`]);
});
const last = rows.length;
rows.push(["Grand total", "", "", `=SUM(D2:D${last})`]);

await tools.excel.write_range({ path, sheet: "Sales", at: "A1", rows });
await tools.excel.format_range({ path, sheet: "Sales", range: "A1:D1", style: { bold: true } });

const { values } = await tools.excel.read_range({ path, sheet: "Sales", range: `D2:D${last + 1}` });
const totals = values.map(([v]) => v);
return { lineTotals: totals.slice(0, -1), grandTotal: totals.at(-1) };
