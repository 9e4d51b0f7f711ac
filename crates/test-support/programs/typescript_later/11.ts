// Put the staff table of the database into an Excel report with average salary per department.
interface Staff { name: string; dept: string; salary: number }

const staff: Staff[] = [
  { name: "Ann", dept: "Sales", salary: 52000 },
  { name: "Bob", dept: "Sales", salary: 48000 },
  { name: "Cleo", dept: "IT", salary: 67000 },
  { name: "Dan", dept: "IT", salary: 71500 },
  { name: "Eve", dept: "HR", salary: 45000 },
];
await tools.sqlite.create_table({ query: "CREATE TABLE IF NOT EXISTS b2_11_staff (name TEXT, dept TEXT, salary INTEGER)" });
await tools.sqlite.write_query({ query: "DELETE FROM b2_11_staff" });
for (const s of staff) {
  await tools.sqlite.write_query({ query: `INSERT INTO b2_11_staff VALUES ('${s.name}', '${s.dept}', ${s.salary})` });
}

const rows = (await tools.sqlite.read_query({ query: "SELECT name, dept, salary FROM b2_11_staff ORDER BY dept, salary DESC" })) as Staff[];
const byDept = new Map<string, Staff[]>();
for (const r of rows) {
  if (!byDept.has(r.dept)) byDept.set(r.dept, []);
  byDept.get(r.dept)!.push(r);
}

const path = "DATA/files/b2_11_staff.xlsx";
await tools.excel.create_workbook({ path, sheets: ["Staff", "Averages"], overwrite: true });
await tools.excel.write_range({ path, sheet: "Staff", at: "A1", rows: [["Name", "Department", "Salary"], ...rows.map((r) => [r.name, r.dept, r.salary])] });
const averages = [...byDept].map(([dept, list]): [string, number, number] => [
  dept, list.length, Math.round(list.reduce((s, x) => s + x.salary, 0) / list.length),
]);
await tools.excel.write_range({ path, sheet: "Averages", at: "A1", rows: [["Department", "People", "Average"], ...averages] });
await tools.excel.format_range({ path, sheet: "Averages", range: `C2:C${averages.length + 1}`, style: { number_format: "$#,##0" } });

const info = await tools.excel.describe_workbook({ path });
return { sheets: info.sheets.map((s) => `${s.name} ${s.used_range}`), averages };
