// Export the price list as CSV with semicolons, then move it into an archive folder with a unique name and check its content.
const root = "DATA/files/b2_39_prices";
const archive = `${root}/archive`;
await tools.filesystem.create_directory({ path: archive });
const book = `${root}/prices.xlsx`;
await tools.excel.create_workbook({ path: book, sheets: ["Prices"], overwrite: true });
await tools.excel.write_range({
  path: book,
  sheet: "Prices",
  at: "A1",
  rows: [["Item", "Net", "Gross"], ["Tea", 4, "=B2*1.25"], ["Coffee", 8, "=B3*1.25"]],
});

const csv = `${root}/prices.csv`;
await tools.excel.export_csv({ path: book, sheet: "Prices", csv_path: csv, delimiter: "semicolon", overwrite: true });
const target = `${archive}/prices-${crypto.randomUUID()}.csv`;
await tools.filesystem.move_file({ source: csv, destination: target });

const { content } = await tools.filesystem.read_text_file({ path: target });
const [header, ...lines] = content.replace(/^\uFEFF/, "").trim().split(/\r?\n/);
const keys = header.split(";");
const items = lines.map((l) => Object.fromEntries(l.split(";").map((v, i) => [keys[i], i === 0 ? v : Number(v)])));

const listing = await tools.filesystem.list_directory({ path: archive });
const archived = listing.content.split("\n").filter((l) => l.startsWith("[FILE]")).length;
return { items, archived };
