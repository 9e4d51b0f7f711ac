// task: Import a CSV of employees into SQLite and give the average salary per department.
// expect: Eng 95000 (2 people), HR 65000 (1), Ops 65000 (2)
const csvPath = "DATA/files/employees12.csv";
await tools.filesystem.write_file({
  path: csvPath,
  content: ["name,dept,salary", "Ann,Eng,100000", "Ben,Eng,90000", "Cid O'Hara,Ops,60000", "Dee,Ops,70000", "Eve,HR,65000"].join("\n") + "\n",
});

const { content } = await tools.filesystem.read_text_file({ path: csvPath });
const [header, ...lines] = content.trim().split(/\r?\n/);
const columns = header.split(",");
const records = lines.map((line) => {
  const cells = line.split(",");
  return Object.fromEntries(columns.map((c, i) => [c, cells[i]]));
});

const quote = (s: string) => `'${s.replace(/'/g, "''")}'`;
await tools.sqlite.create_table({
  query: "CREATE TABLE IF NOT EXISTS employees12 (name TEXT, dept TEXT, salary INTEGER)",
});
await tools.sqlite.write_query({ query: "DELETE FROM employees12" });
for (const r of records) {
  await tools.sqlite.write_query({
    query: `INSERT INTO employees12 VALUES (${quote(r.name)}, ${quote(r.dept)}, ${Number(r.salary)})`,
  });
}

return await tools.sqlite.read_query({
  query: `SELECT dept, COUNT(*) AS people, AVG(salary) AS avg_salary
          FROM employees12 GROUP BY dept ORDER BY dept`,
});
