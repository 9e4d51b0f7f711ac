// Replaces methods and adds properties to prototypes before a tool call and before its result.

// Calls by such names cannot be found in the text, so the host does not judge them before the run.
const named: any = tools;
const SERVER = "server";
const own: any = {};

for (const key of ["t", "id", "name", "args", "result", "kept", "content", "kind", "message"]) {
  Object.defineProperty(Object.prototype, key, {
    get: () => "polluted",
    set(value) {
      Object.defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true });
    },
    configurable: true,
  });
}
Object.defineProperty(Object.prototype, "toJSON", { value: () => "polluted", writable: true, configurable: true });
Object.defineProperty(Array.prototype, "toJSON", { value: () => ["polluted"], writable: true, configurable: true });
JSON.stringify = () => '{"t":"done"}';
JSON.parse = () => "polluted";
Promise.prototype.finally = () => own;
Reflect.apply = () => own;
Object.keys = () => ["polluted"];
say("polluted", own.t === "polluted" && JSON.stringify(1) === '{"t":"done"}' ? "allowed" : "closed");
try {
  await named[SERVER].tool({ text: "x" });
} catch {
  say("called", "allowed");
}
return { text: "x", list: [1] };
