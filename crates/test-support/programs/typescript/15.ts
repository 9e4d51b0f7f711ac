// task: Page through a table of 25 rows ten at a time, and tell me the number of pages, rows and the sum of the values.
// expect: { pages: 3, rows: 25, sum: 325 }
type Row = { n: number };

await tools.sqlite.create_table({ query: "CREATE TABLE IF NOT EXISTS pages15 (n INTEGER PRIMARY KEY)" });
await tools.sqlite.write_query({ query: "DELETE FROM pages15" });
const values = Array.from({ length: 25 }, (_, i) => `(${i + 1})`).join(",");
await tools.sqlite.write_query({ query: `INSERT INTO pages15 (n) VALUES ${values}` });

async function* paginate(pageSize: number): AsyncGenerator<Row[]> {
  for (let offset = 0; ; offset += pageSize) {
    const page = await tools.sqlite.read_query({
      query: `SELECT n FROM pages15 ORDER BY n LIMIT ${pageSize} OFFSET ${offset}`,
    });
    if (page.length === 0) return;
    yield page as Row[];
    if (page.length < pageSize) return;
  }
}

let pages = 0, rows = 0, sum = 0;
for await (const page of paginate(10)) {
  pages++;
  rows += page.length;
  sum += page.reduce((acc, { n }) => acc + n, 0);
}
return { pages, rows, sum };
