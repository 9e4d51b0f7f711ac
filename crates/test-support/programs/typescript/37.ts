// task: Find the top seller per region in a sales table and save the result as a CSV report.
// expect: the CSV text: "region,seller,amount", then North,Ben,700, South,Cat,300 and West,Eli,900
import * as path from "node:path";

await tools.sqlite.create_table({
  query: "CREATE TABLE IF NOT EXISTS sales37 (region TEXT, seller TEXT, amount INTEGER)",
});
await tools.sqlite.write_query({ query: "DELETE FROM sales37" });
await tools.sqlite.write_query({
  query: `INSERT INTO sales37 VALUES
    ('North','Ann',500), ('North','Ben',700),
    ('South','Cat',300), ('South','Dan',250), ('West','Eli',900)`,
});

const rows = await tools.sqlite.read_query({
  query: `WITH ranked AS (
    SELECT region, seller, amount, RANK() OVER (PARTITION BY region ORDER BY amount DESC) AS rk
    FROM sales37
  ) SELECT region, seller, amount FROM ranked WHERE rk = 1 ORDER BY region`,
}).catch(() =>
  tools.sqlite.read_query({
    query: "SELECT region, seller, MAX(amount) AS amount FROM sales37 GROUP BY region ORDER BY region",
  })
);

const header = ["region", "seller", "amount"] as const;
const escape = (v: unknown) => (/[",\n]/.test(String(v)) ? `"${String(v).replaceAll('"', '""')}"` : String(v));
const csv = [header.join(","), ...rows.map((r: any) => header.map((h) => escape(r[h])).join(","))].join("\n");

const out = path.join("DATA/files", "top-sellers37.csv");
await tools.filesystem.write_file({ path: out, content: csv + "\n" });
const { content } = await tools.filesystem.read_text_file({ path: out });
return content;
