// Imports modules whose text is nested so deeply that a parser without a limit overflows its stack.

import * as fs from "node:fs";

const DEEP = 100_000;

function load(name: string, text: string): Promise<unknown> {
  fs.writeFileSync(`${name}.ts`, text);
  return import(`./${name}.ts`);
}

say("begun", "allowed");
await attempt("brackets", () => load("brackets", "(".repeat(DEEP)));
