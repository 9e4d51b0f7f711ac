// Take this CSV of expenses, import it into a workbook, add totals per category, and note the largest category as an insight.
const csvPath = "DATA/files/b2_10_expenses.csv";
const path = "DATA/files/b2_10_expenses.xlsx";
const csv = [
  "Date,Category,Amount",
  "2024-03-01,Travel,340.50",
  "2024-03-02,Meals,58.20",
  "2024-03-05,Travel,120.00",
  "2024-03-09,Software,499.00",
  "2024-03-12,Meals,33.75",
].join("\n");

await tools.filesystem.write_file({ path: csvPath, content: csv + "\n" });
await tools.excel.create_workbook({ path, sheets: ["Expenses", "Summary"], overwrite: true });
await tools.excel.import_csv({ path, csv_path: csvPath, sheet: "Expenses", delimiter: "comma" });

const data = await tools.excel.read_range({ path, sheet: "Expenses", range: "A1:C6" });
const [, ...body] = data.values;
const categories = [...new Set(body.map((r) => String(r[1])))].sort();

await tools.excel.write_range({
  path,
  sheet: "Summary",
  at: "A1",
  rows: [
    ["Category", "Total"],
    ...categories.map((c, i) => [c, `=SUMIF(Expenses!B:B,A${i + 2},Expenses!C:C)`]),
  ],
});
const summary = await tools.excel.read_range({ path, sheet: "Summary", range: `A2:B${categories.length + 1}` });
const totals = summary.values.map(([c, t]) => ({ category: String(c), total: Number(t) }));
totals.sort((a, b) => b.total - a.total);

await tools.sqlite.append_insight({
  insight: `Largest expense category in March: ${totals[0].category} (${totals[0].total.toFixed(2)})`,
});
return totals;
