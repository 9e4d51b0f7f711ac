// Use named ranges for net price and tax rate, and explain to me how the gross price is calculated.
const path = "DATA/files/b2_31_names.xlsx";
const sheet = "Prices";
await tools.excel.create_workbook({ path, sheets: [sheet], overwrite: true });
await tools.excel.write_range({ path, sheet, at: "A1", rows: [["Net", 250], ["Tax", 0.19]] });
await tools.excel.set_defined_name({ path, name: "NetPrice", refers_to: "=Prices!$B$1" });
await tools.excel.set_defined_name({ path, name: "TaxRate", refers_to: "=Prices!$B$2" });
await tools.excel.write_range({ path, sheet, at: "A3", rows: [["Gross", "=ROUND(NetPrice*(1+TaxRate),2)"]] });

const [trace, sources, book] = await Promise.all([
  tools.excel.trace_formula({ path, sheet, range: "B3", direction: "evaluate" }),
  tools.excel.trace_formula({ path, sheet, range: "B3", direction: "precedents" }),
  tools.excel.describe_workbook({ path }),
]);
for (const { expr, value } of trace.steps ?? []) console.log(`${expr} = ${value}`);
return {
  names: (book.defined_names ?? []).map((n) => `${n.name} -> ${n.refers_to}`),
  precedents: sources.cells ?? {},
  steps: trace.steps?.length ?? 0,
};
