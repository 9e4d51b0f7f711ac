// task: Convert 0, 37, 100 and -40 degrees Celsius to Fahrenheit with the calculator.
// expect: 0 → 32, 37 → 98.6, 100 → 212, -40 → -40
const celsius = [0, 37, 100, -40];

const table = new Map<number, number>();
await Promise.all(
  celsius.map(async (c) => {
    const { result } = await tools.calculator.calculate({ expression: `(${c}) * 9 / 5 + 32` });
    table.set(c, Number(Number(result).toFixed(2)));
  })
);

console.log("C\tF");
for (const c of celsius) console.log(`${c}\t${table.get(c)}`);
return Object.fromEntries(celsius.map((c) => [`${c}°C`, `${table.get(c)}°F`]));
