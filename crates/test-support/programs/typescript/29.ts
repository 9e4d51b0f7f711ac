// task: Create a table of devices, then document its columns as a Markdown table in a file.
// expect: the file's Markdown: a header, a rule and a row for each of id, serial, price and added_on with their types
interface Column { cid: number; name: string; type: string; notnull: 0 | 1; dflt_value: string | null; pk: 0 | 1 }

await tools.sqlite.create_table({
  query: `CREATE TABLE IF NOT EXISTS devices29 (
    id INTEGER PRIMARY KEY,
    serial TEXT NOT NULL UNIQUE,
    price REAL DEFAULT 0,
    added_on TEXT
  )`,
});

const raw = await tools.sqlite.describe_table({ table_name: "devices29" });
const columns: Column[] = typeof raw === "string" ? JSON.parse(raw) : raw;

const md = [
  "| Column | Type | Required | Key |",
  "|---|---|---|---|",
  ...columns.map((c) => `| ${c.name} | ${c.type} | ${c.notnull ? "yes" : "no"} | ${c.pk ? "PK" : ""} |`),
].join("\n");

const path = "DATA/files/devices29.md";
await tools.filesystem.write_file({ path, content: md + "\n" });
return (await tools.filesystem.read_text_file({ path })).content;
