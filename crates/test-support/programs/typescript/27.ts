// task: Import a CSV of daily visitors into a workbook, sort it by visitors, and tell me the best day and the total.
// expect: best day 2024-03-03 with 310 visitors, total 780
const dir = "DATA/files";
const csv_path = `${dir}/visitors27.csv`;
const path = `${dir}/visitors27.xlsx`;

await tools.filesystem.write_file({
  path: csv_path,
  content: "day,visitors\n2024-03-01,120\n2024-03-02,200\n2024-03-03,310\n2024-03-04,150\n",
});
await tools.excel.create_workbook({ path, sheets: ["Visitors"], overwrite: true });
await tools.excel.import_csv({ path, csv_path, sheet: "Visitors", at: "A1", delimiter: "comma", date_order: "ymd" });
await tools.excel.sort_range({
  path,
  sheet: "Visitors",
  range: "A1:B5",
  sort_by: [{ column: "B", order: "descending" }],
  has_header: true,
});

const { values } = await tools.excel.read_range({ path, sheet: "Visitors", range: "A1:B5" });
const data = values.slice(1) as [string, number][];
const [bestDay, bestCount] = data[0];
return {
  bestDay: String(bestDay).slice(0, 10),
  bestCount,
  total: data.reduce((sum, [, n]) => sum + n, 0),
};
