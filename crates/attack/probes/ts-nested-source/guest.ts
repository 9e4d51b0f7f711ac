// Imports modules whose text is nested so deeply that a parser without a limit overflows its stack.

import * as fs from "node:fs";

const DEEP = 100_000;

function load(name: string, text: string): Promise<unknown> {
  fs.writeFileSync(`${name}.ts`, text);
  return import(`./${name}.ts`);
}

say("begun", "allowed");
await attempt("brackets", () => load("brackets", "(".repeat(DEEP)));
await attempt("hidden_brackets", () => load("hidden", `/'/; ${"(".repeat(DEEP)}`));
await attempt("types", () => load("types", `type X = ${"Array<".repeat(DEEP)}1${">".repeat(DEEP)};`));
await attempt("negations", () => load("negations", `export const x = ${"!".repeat(DEEP)}1;`));
await attempt("functions", () => load("functions", `export const x = ${"x => ".repeat(DEEP)}1;`));
await attempt("sums", () => load("sums", `export const x = ${"1 + ".repeat(DEEP)}1;`));
