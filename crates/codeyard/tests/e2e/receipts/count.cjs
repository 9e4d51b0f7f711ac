// Counts tokens of texts in o200k with js-tiktoken: a JSON array of texts on standard input, one of numbers on standard output.
const { Tiktoken } = require("js-tiktoken/lite");
const ranks = require("js-tiktoken/ranks/o200k_base");
const encoding = new Tiktoken(ranks.default ?? ranks);
let input = "";
process.stdin.on("data", (chunk) => (input += chunk));
process.stdin.on("end", () => {
  const counts = JSON.parse(input).map((text) => encoding.encode(text, [], []).length);
  process.stdout.write(JSON.stringify(counts));
});
