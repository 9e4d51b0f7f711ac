// Imports modules in cycles and in long chains, data that reads as a program, and files that are not modules.

import * as fs from "node:fs";

const shared = globalThis as any;

function make(name: string, text: string): string {
  fs.writeFileSync(`/tmp/${name}`, text);
  return `/tmp/${name}`;
}

/** Modules that import one another in a row. */
function chain(length: number): string {
  for (let number = 0; number < length; number++) {
    const next = number ? `import "/tmp/chain-${number - 1}.ts";\n` : "";
    make(`chain-${number}.ts`, `${next}export const number = ${number};\n`);
  }
  return `/tmp/chain-${length - 1}.ts`;
}

make("one.ts", 'import { two } from "./two.ts"; export const one = () => two; await 0;');
make("two.ts", 'import { one } from "./one.ts"; export const two = () => one; await 0;');
make("early.ts", 'import { late } from "./late.ts"; export const early = late;');
make("late.ts", 'import { early } from "./early.ts"; export const late = early;');
make("name.ts", 'export { name } from "./name.ts";');
make("all.ts", 'export * from "./all.ts"; export const all = 1;');
make("data.json", "1; globalThis.ranData = true");

await attempt("cycle", () => import("/tmp/one.ts"));
await attempt("cycle_of_values", () => import("/tmp/early.ts"));
await attempt("cycle_of_names", () => import("/tmp/name.ts"));
await attempt("cycle_of_all", () => import("/tmp/all.ts"));
await attempt("long_chain", () => import(chain(2_000)));
await attempt("device", () => import("/dev/zero"));
await attempt("output", () => import("/proc/self/fd/1"));
await attempt("users", () => import("../../etc/passwd"));
await attempt("escaping_tool", () => import('/tools/"];globalThis.ranTool=true;["/x'));
await import("/tmp/data.json").catch(() => {});
look("program_in_data", shared.ranData === true);
look("program_in_name", shared.ranTool === true);
say("after_all", "allowed");
