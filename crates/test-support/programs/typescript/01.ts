// task: Add 17.5 and 24.25 with the server's sum tool and give me just the number, rounded to two decimals.
// expect: the number 41.75
const text = await tools.everything.get_sum({ a: 17.5, b: 24.25 });
const numbers = text.match(/-?\d+(?:\.\d+)?/g) ?? [];
const sum = Number(numbers.at(-1));
if (Number.isNaN(sum)) throw new Error(`Could not parse sum from: ${text}`);
return Math.round(sum * 100) / 100;
