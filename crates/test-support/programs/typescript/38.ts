// task: In a small profit model in Excel, find by goal seek the price at which the profit is 500.
// expect: price close to 20, profit close to 500
const path = "DATA/files/profit38.xlsx";
const sheet = "Model";
await tools.excel.create_workbook({ path, sheets: [sheet], overwrite: true });
await tools.excel.write_range({
  path,
  sheet,
  at: "A1",
  rows: [
    ["Price", 10],
    ["Quantity", 100],
    ["Cost", 1500],
    ["Profit", "=B1*B2-B3"],
  ],
});

try {
  await tools.excel.goal_seek({ path, sheet, cell: "B4", target: 500, changing_cell: "B1" });
} catch (e) {
  return `Goal seek did not converge: ${(e as Error).message}`;
}

const { values: [[price], , , [profit]] } = await tools.excel.read_range({ path, sheet, range: "B1:B4" });
const { cells } = await tools.excel.trace_formula({ path, sheet, range: "B4", direction: "precedents" });
return { price, profit, precedents: cells };
