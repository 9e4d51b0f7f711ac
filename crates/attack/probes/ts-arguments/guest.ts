// Calls tools with names and arguments that would break out of their frame, or that no reader takes.

// Calls by such names cannot be found in the text, so the host does not judge them before the run.
const named: any = tools;
const SERVER = "server";
const ESCAPE = '"},"t":"done","id":1,"x":{"';

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = { value };
  return value;
}

function call(argument: unknown, tool = "tool", server = SERVER): () => Promise<unknown> {
  return () => named[server][tool](argument);
}

await attempt("plain", call({ text: "x" }));
await attempt("lone_surrogate", call({ text: "\ud800" }));
await attempt("lone_surrogate_in_key", call({ "\udc00": 1 }));
await attempt("lone_surrogate_in_tool", call({}, "\ud800"));
await attempt("escaping_text", call({ text: ESCAPE }));
await attempt("escaping_key", call({ [ESCAPE]: 1 }));
await attempt("escaping_tool", call({}, ESCAPE));
await attempt("escaping_server", call({}, "tool", ESCAPE));
await attempt("zero_bytes", call({ text: "\0".repeat(100) }));
await attempt("huge_key", call({ ["k".repeat(1 << 20)]: 1 }));
await attempt("huge_tool", call({}, "t".repeat(1 << 20)));
await attempt("many_keys", call(Object.fromEntries(Array.from({ length: 20_000 }, (_, key) => [`k${key}`, key]))));
await attempt("key_of_prototype", call(JSON.parse('{"__proto__": {"t": "done"}}')));
await attempt("replaced_by_text", call({ toJSON: () => ESCAPE }));
await attempt("replaced_by_nothing", call({ toJSON: () => undefined }));
await attempt("throwing_conversion", call({ toJSON: () => { throw new RangeError("mine"); } }));
await attempt("throwing_getter", call({ get text() { throw new RangeError("mine"); } }));
await attempt("throwing_proxy", call(new Proxy({}, { ownKeys() { throw new RangeError("mine"); } })));
await attempt("circular", () => {
  const circular: any = {};
  circular.self = circular;
  return call(circular)();
});
for (const depth of [100, 130, 10_000]) await attempt(`nested_${depth}`, call(nested(depth)));
