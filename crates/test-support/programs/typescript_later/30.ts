// Our supplier "Foo Ltd" is now called "Bar GmbH": find every mention in the workbook, replace it, and verify.
const path = "DATA/files/b2_30_suppliers.xlsx";
await tools.excel.create_workbook({ path, sheets: ["Orders", "Contacts"], overwrite: true });
await tools.excel.write_range({ path, sheet: "Orders", at: "A1", rows: [["Supplier", "Amount"], ["Foo Ltd", 100], ["Other Inc", 50], ["Foo Ltd", 75]] });
await tools.excel.write_range({ path, sheet: "Contacts", at: "A1", rows: [["Firm", "Mail"], ["Foo Ltd", "info@foo.example"]] });

const found = await tools.excel.find_cells({ path, query: "Foo Ltd" });
const cells = Object.entries(found.matches).flatMap(([sheet, hits]) => Object.keys(hits).map((c) => `${sheet}!${c}`));
console.log(`Found in ${cells.length} cells: ${cells.join(", ")}`);

const changed = await tools.excel.replace_cells({ path, query: "Foo Ltd", replacement: "Bar GmbH" });
const left = await tools.excel.find_cells({ path, query: "Foo Ltd" });
const now = await tools.excel.find_cells({ path, query: "Bar GmbH", exact: true });
return {
  before: cells.length,
  changed,
  left: Object.values(left.matches).reduce((n, m) => n + Object.keys(m).length, 0),
  now: Object.values(now.matches).reduce((n, m) => n + Object.keys(m).length, 0),
};
