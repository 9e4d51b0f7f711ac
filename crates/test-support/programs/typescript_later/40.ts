// Monthly report: aggregate sales in the database, compute growth, make a workbook with a chart, save a summary, and remember the best month.
interface Month { month: string; total: number }
await tools.sqlite.create_table({ query: "CREATE TABLE IF NOT EXISTS b2_40_sales (sold_on TEXT, amount REAL)" });
await tools.sqlite.write_query({ query: "DELETE FROM b2_40_sales" });
const sales: Array<[string, number]> = [
  ["2024-01-10", 900], ["2024-01-22", 350.5], ["2024-02-03", 1100], ["2024-02-28", 420], ["2024-03-15", 1980.25],
];
await tools.sqlite.write_query({ query: `INSERT INTO b2_40_sales VALUES ${sales.map(([d, a]) => `('${d}', ${a})`).join(", ")}` });
const months = (await tools.sqlite.read_query({
  query: "SELECT substr(sold_on, 1, 7) AS month, SUM(amount) AS total FROM b2_40_sales GROUP BY month ORDER BY month",
})) as Month[];

const growth: (number | null)[] = [null];
for (let i = 1; i < months.length; i++) {
  const { result } = await tools.calculator.calculate({ expression: `(${months[i].total} / ${months[i - 1].total} - 1) * 100` });
  growth.push(Number(Number(result).toFixed(1)));
}

const path = "DATA/files/b2_40_report.xlsx";
await tools.excel.create_workbook({ path, sheets: ["Report"], overwrite: true });
const label = (m: string) => new Date(`${m}-01T00:00:00Z`).toLocaleDateString("en-US", { month: "short", timeZone: "UTC" });
const rows = months.map((m, i) => [label(m.month), m.total, growth[i]]);
await tools.excel.write_range({ path, sheet: "Report", at: "A1", rows: [["Month", "Sales", "Growth %"], ...rows] });
await tools.excel.create_chart({
  path, sheet: "Report", chart_type: "column", source: `A1:B${rows.length + 1}`, at: "E2", options: { title: "Sales per month", legend: "none" },
});

const best = [...months].sort((a, b) => b.total - a.total)[0];
const summary = months.map((m, i) => `- ${label(m.month)}: ${m.total.toFixed(2)}${growth[i] === null ? "" : ` (${growth[i]! >= 0 ? "+" : ""}${growth[i]}%)`}`).join("\n");
await tools.filesystem.write_file({ path: "DATA/files/b2_40_report.md", content: `# Sales\n\n${summary}\n` });
await tools.memory.create_entities({ entities: [{ name: "b2_40 sales 2024", entityType: "report", observations: [`best month: ${best.month}`] }] });
return { best: best.month, summary };
