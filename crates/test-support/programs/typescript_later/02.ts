// How does 10,000 grow at 3, 5 and 7 percent over 10 and 20 years with yearly compounding?
const rates = [0.03, 0.05, 0.07];
const years = [10, 20];
const fmt = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
const table: { rate: string; years: number; value: string }[] = [];
for (const rate of rates) {
  for (const n of years) {
    const { result } = await tools.calculator.calculate({ expression: `10000 * (1 + ${rate}) ** ${n}` });
    table.push({ rate: `${(rate * 100).toFixed(0)}%`, years: n, value: fmt.format(Number(result)) });
  }
}
console.table?.(table);
table;
