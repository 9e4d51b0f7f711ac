// Recurses without end in calls, accessors, proxies, parsers and native functions.

import * as assert from "node:assert";

const DEEP = 100_000;

function call(depth: number): number {
  return call(depth + 1) + 1;
}

function* generate(): Generator {
  yield* generate();
}

class Getter {
  get self(): unknown {
    return this.self;
  }
}

function nested(): unknown {
  let value: unknown = [];
  for (let depth = 0; depth < DEEP; depth++) value = [value];
  return value;
}

const text = { toString: () => `${text}` };
const proxy: any = new Proxy({}, { get: (_target, key, receiver) => receiver[key] });
const deep = nested();

await attempt("calls", () => call(0));
await attempt("async_calls", async function again(): Promise<void> {
  await again();
});
await attempt("generators", () => [...generate()]);
await attempt("getters", () => new Getter().self);
await attempt("proxies", () => proxy.x);
await attempt("conversions", () => `${text}`);
await attempt("parse", () => JSON.parse("[".repeat(DEEP) + "]".repeat(DEEP)));
await attempt("join", () => String(deep));
await attempt("flatten", () => (deep as unknown[]).flat(Infinity));
await attempt("compare", () => assert.deepStrictEqual(deep, nested()));
await attempt("evaluate", () => eval("(".repeat(DEEP)));
await attempt("construct", () => new Function("[".repeat(DEEP)));
await attempt("expression", () => new RegExp("(?:a|".repeat(DEEP) + ")".repeat(DEEP)));
say("after_all", "allowed");
