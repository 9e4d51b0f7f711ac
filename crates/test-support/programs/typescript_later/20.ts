// Make a pivot table of sales per region and quarter.
const path = "DATA/files/b2_20_pivot.xlsx";
await tools.excel.create_workbook({ path, sheets: ["Sales", "Pivot"], overwrite: true });

const regions = ["North", "South", "West"];
const quarters = ["Q1", "Q2"];
const rows: (string | number)[][] = [["Region", "Quarter", "Amount"]];
regions.forEach((region, r) => {
  quarters.forEach((quarter, q) => {
    rows.push([region, quarter, 1000 + r * 250 + q * 100]);
    rows.push([region, quarter, 500 + r * 50]);
  });
});
await tools.excel.write_range({ path, sheet: "Sales", at: "A1", rows });

const pivot = await tools.excel.create_pivot_table({
  path,
  sheet: "Pivot",
  at: "A3",
  source: `Sales!A1:C${rows.length}`,
  row_fields: ["Region"],
  column_fields: ["Quarter"],
  value_fields: [{ field: "Amount", function: "sum", number_format: "#,##0" }],
  name: "SalesPivot",
});
console.log(typeof pivot === "string" ? pivot : JSON.stringify(pivot));

const shown = await tools.excel.read_range({ path, sheet: "Pivot" });
return shown.values.filter((r) => r.some((c) => c !== null)).map((r) => r.map((c) => c ?? "").join(" | "));
