// Starts processes and threads, signals others, loads native code, and blocks its thread.

const MODULES = ["child_process", "cluster", "worker_threads", "vm", "v8", "inspector", "wasi", "repl"];
const GLOBALS = ["Worker", "SharedWorker", "ShadowRealm", "WebAssembly", "Deno", "Bun", "importScripts", "load", "gc"];
const own = process as any;

for (const name of MODULES) {
  await attempt(`import_${name}`, () => import(`node:${name}`));
  await attempt(`require_${name}`, () => require(name));
}
await attempt("kill_victim", () => process.kill(given.host.victim, 0));
await attempt("kill_group", () => process.kill(-1, "SIGKILL"));
await attempt("spawn_binding", () => own.binding("spawn_sync").spawn({ file: "/bin/true", args: [] }));
await attempt("native_code", () => own.dlopen({ exports: {} }, "/usr/lib/x86_64-linux-gnu/libc.so.6"));
await attempt("built_in", () => own.getBuiltinModule("child_process").execSync("true"));
await attempt("become_root", () => own.setuid(0));
await attempt("wait", () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
look("other_globals", GLOBALS.some((name) => name in globalThis));
