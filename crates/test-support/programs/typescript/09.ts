// task: Compare 1,000 euros invested for 10 years at 3, 5 and 7 percent with compound interest, using the calculator.
// expect: 3%: 1343.92, 5%: 1628.89, 7%: 1967.15 (formatted as euros)
const principal = 1000;
const years = 10;
const rates = [0.03, 0.05, 0.07];

const fmt = new Intl.NumberFormat("en-IE", { style: "currency", currency: "EUR" });

const results = await Promise.all(
  rates.map(async (rate) => {
    const { result } = await tools.calculator.calculate({
      expression: `${principal} * (1 + ${rate}) ** ${years}`,
    });
    return { rate: `${(rate * 100).toFixed(0)}%`, value: fmt.format(parseFloat(result)) };
  })
);
console.log(results.map((r) => `${r.rate}: ${r.value}`).join("\n"));
