// Clean my mailing list: remove duplicate rows and sort it by city, then by name.
const path = "DATA/files/b2_23_mailing.xlsx";
const base = { path, sheet: "List" };
await tools.excel.create_workbook({ path, sheets: ["List"], overwrite: true });
await tools.excel.write_range({
  ...base,
  at: "A1",
  rows: [
    ["Name", "City"],
    ["Zoe", "Paris"],
    ["Adam", "Rome"],
    ["Zoe", "Paris"],
    ["Mia", "Paris"],
    ["Adam", "Rome"],
    ["Otto", "Berlin"],
  ],
});
await tools.excel.transform_range({ ...base, range: "A1:B7", transform: { operation: "remove_duplicates", has_header: true } });

const rest = await tools.excel.read_range({ ...base, range: "A1:B7" });
const used = rest.values.filter(([name]) => name !== null && name !== "").length;
await tools.excel.sort_range({
  ...base,
  range: `A1:B${used}`,
  has_header: true,
  sort_by: [{ column: "B", order: "ascending" }, { column: "A", order: "ascending" }],
});
const { values } = await tools.excel.read_range({ ...base, range: `A2:B${used}` });
return values.map(([name, city]) => `${city}: ${name}`);
