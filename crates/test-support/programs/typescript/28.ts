// task: Make a workbook with one sheet per quarter, fill each with three monthly figures, and summarize sheets and their sums.
// expect: Q1 used range A1:B4 sum 60, Q2 sum 150, Q3 sum 240, Q4 sum 330
const path = "DATA/files/quarters28.xlsx";
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const quarters = ["Q1", "Q2", "Q3", "Q4"];

await tools.excel.create_workbook({ path, sheets: quarters, overwrite: true });

// write one after another: all calls change the same file
for (const [q, sheet] of quarters.entries()) {
  const rows: (string | number)[][] = [["Month", "Amount"]];
  for (let m = q * 3; m < q * 3 + 3; m++) rows.push([months[m], (m + 1) * 10]);
  await tools.excel.write_range({ path, sheet, at: "A1", rows });
}

const wb = await tools.excel.describe_workbook({ path });
const summary = await Promise.all(
  wb.sheets.map(async ({ name, used_range }) => {
    const { values } = await tools.excel.read_range({ path, sheet: name, range: "B2:B4" });
    const sum = values.flat().reduce<number>((s, v) => s + (typeof v === "number" ? v : 0), 0);
    return { name, used_range, sum };
  })
);
return summary;
