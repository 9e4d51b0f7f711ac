// Parse this web server log, load it into the database, and list errors per path with the error rate.
const path = "DATA/files/b2_28_access.log";
await tools.filesystem.write_file({
  path,
  content: [
    '10.0.0.1 - [12/Mar/2024:10:01:02] "GET /home" 200 512',
    '10.0.0.2 - [12/Mar/2024:10:01:09] "GET /api/items" 500 88',
    '10.0.0.1 - [12/Mar/2024:10:02:11] "POST /api/items" 201 64',
    "garbage line",
    '10.0.0.3 - [12/Mar/2024:10:03:45] "GET /api/items" 503 88',
    '10.0.0.3 - [12/Mar/2024:10:04:00] "GET /missing" 404 12',
  ].join("\n"),
});

const line = /^(?<ip>\S+) - \[(?<time>[^\]]+)\] "(?<method>[A-Z]+) (?<url>\S+)" (?<status>\d{3}) (?<bytes>\d+)$/;
const { content } = await tools.filesystem.read_text_file({ path });
let skipped = 0;
const values: string[] = [];
for (const l of content.split(/\r?\n/)) {
  const g = line.exec(l)?.groups;
  if (!g) {
    if (l.trim()) skipped++;
    continue;
  }
  values.push(`('${g.ip}', '${g.method}', '${g.url}', ${Number(g.status)}, ${Number(g.bytes)})`);
}

await tools.sqlite.create_table({ query: "CREATE TABLE IF NOT EXISTS b2_28_log (ip TEXT, method TEXT, url TEXT, status INTEGER, bytes INTEGER)" });
await tools.sqlite.write_query({ query: "DELETE FROM b2_28_log" });
await tools.sqlite.write_query({ query: `INSERT INTO b2_28_log VALUES ${values.join(", ")}` });
const rows: { url: string; hits: number; errors: number }[] = await tools.sqlite.read_query({
  query: "SELECT url, COUNT(*) AS hits, SUM(CASE WHEN status >= 400 THEN 1 ELSE 0 END) AS errors FROM b2_28_log GROUP BY url HAVING errors > 0 ORDER BY errors DESC, url",
});
return { skipped, report: rows.map((r) => `${r.url}: ${r.errors}/${r.hits} (${Math.round((100 * r.errors) / r.hits)}%)`) };
