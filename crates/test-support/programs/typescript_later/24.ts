// Add up 12.5, 30 and 7.25 in three ways (Excel, calculator, sum tool) and make sure they agree.
const nums = [12.5, 30, 7.25];
const path = "DATA/files/b2_24_sum.xlsx";

async function viaExcel(): Promise<number> {
  await tools.excel.create_workbook({ path, sheets: ["S"], overwrite: true });
  await tools.excel.write_range({ path, sheet: "S", at: "A1", rows: [...nums.map((n) => [n]), ["=SUM(A1:A3)"]] });
  const r = await tools.excel.read_range({ path, sheet: "S", range: "A4" });
  return Number(r.values[0][0]);
}
const viaCalculator = async () => parseFloat((await tools.calculator.calculate({ expression: nums.join(" + ") })).result);
async function viaSum(): Promise<number> {
  let total = 0;
  for (const n of nums) {
    const text = String(await tools.everything.get_sum({ a: total, b: n }));
    const found = text.match(/(-?\d+(?:\.\d+)?)\.?\s*$/);
    total = found ? Number(found[1]) : NaN;
  }
  return total;
}

const [excel, calculator, sum] = await Promise.all([viaExcel(), viaCalculator(), viaSum()]);
const agree = [calculator, sum].every((v) => Math.abs(v - excel) < 1e-9);
return { excel, calculator, sum, agree };
