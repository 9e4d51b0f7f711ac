// At what price do we reach a profit of 5,000 if we sell 400 units at a unit cost of 12.5 and fixed costs of 3,000?
const path = "DATA/files/b2_19_breakeven.xlsx";
const sheet = "Model";
await tools.excel.create_workbook({ path, sheets: [sheet], overwrite: true });
await tools.excel.write_range({
  path,
  sheet,
  at: "A1",
  rows: [
    ["Price", 20],
    ["Units", 400],
    ["Unit cost", 12.5],
    ["Fixed costs", 3000],
    ["Profit", "=B2*(B1-B3)-B4"],
  ],
});
await tools.excel.goal_seek({ path, sheet, cell: "B5", target: 5000, changing_cell: "B1" });
const { values } = await tools.excel.read_range({ path, sheet, range: "B1:B5" });
const [price, , , , profit] = values.map((r) => Number(r[0]));

// check with the calculator
const check = await tools.calculator.calculate({ expression: "(5000 + 3000) / 400 + 12.5" });
return { price: price.toFixed(2), profit: profit.toFixed(2), exact: Number(check.result).toFixed(2) };
