// Compute the mean and the standard deviation of my measurements with the calculator, and give up after two tries for each expression.
class Calc {
  private cache = new Map<string, number>();
  calls = 0;
  constructor(private readonly tries: number = 2) {}

  async eval(expression: string): Promise<number> {
    const hit = this.cache.get(expression);
    if (hit !== undefined) return hit;
    for (let attempt = 1; ; attempt++) {
      try {
        this.calls++;
        const { result } = await tools.calculator.calculate({ expression });
        const value = Number(result);
        if (Number.isNaN(value)) throw new Error(`not a number: ${result}`);
        this.cache.set(expression, value);
        return value;
      } catch (e) {
        if (attempt >= this.tries) throw e;
      }
    }
  }
}

const xs = [9.8, 10.1, 10.4, 9.6, 10.1];
const calc = new Calc();
try {
  const mean = await calc.eval(`(${xs.join(" + ")}) / ${xs.length}`);
  const squares = xs.map((x) => `(${x} - ${mean}) ** 2`).join(" + ");
  const sd = await calc.eval(`((${squares}) / ${xs.length - 1}) ** 0.5`);
  await calc.eval(`(${xs.join(" + ")}) / ${xs.length}`); // served from the cache
  return { mean: mean.toFixed(3), sd: sd.toFixed(3), calls: calc.calls };
} catch (e) {
  return { error: String(e), calls: calc.calls };
}
