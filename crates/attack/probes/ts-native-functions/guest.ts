// Looks for the engine's own functions, by which a program could write frames of any kind to the host.

import * as fs from "node:fs";

const NATIVE = "codeyard:native";
const IMPORT = `import("${NATIVE}")`;
// Calls by such names cannot be found in the text, so the host does not judge them before the run.
const named: any = tools;
const SERVER = "server";

/** Whether these are the functions of the machine, or the one that makes host calls. */
function isOwn(value: any): boolean {
  if (typeof value === "function") return value.name === "ask";
  return typeof value === "object" && value !== null && Object.hasOwn(value, "setTimer");
}

/** Imports by a name that is that of one of the engine's own modules once it is resolved. */
async function importAs(specifier: string) {
  const directory = "/tmp/modules";
  fs.mkdirSync(directory, { recursive: true });
  process.chdir(directory);
  fs.writeFileSync(NATIVE, "");
  await import(specifier);
}

/** The functions that are active when the engine reads an argument of a call. */
async function activeFunctions(): Promise<unknown[]> {
  const all = Error as any;
  let found: unknown[] = [];
  const argument = {
    get text() {
      all.prepareStackTrace = (_error: unknown, sites: any[]) => sites.map((site) => site.getFunction());
      found = new Error("x").stack as any;
      all.prepareStackTrace = undefined;
      return "x";
    },
  };
  await named[SERVER].tool(argument).catch(() => {});
  return Array.isArray(found) ? found : [];
}

/** What replaced methods of the language are given while the engine works. */
async function spied(): Promise<boolean> {
  let seen = false;
  const restored: (() => void)[] = [];
  const prototypes = [Map, Set, Array, Promise, Function].map((constructor) => constructor.prototype);
  for (const owner of [...prototypes, Reflect, JSON]) {
    for (const key of Reflect.ownKeys(owner)) {
      const descriptor = Object.getOwnPropertyDescriptor(owner, key);
      const method = descriptor?.value;
      if (typeof method !== "function" || !descriptor?.configurable || key === "constructor") continue;
      const { apply } = Reflect;
      let busy = false;
      const spy = function (this: unknown, ...given: unknown[]) {
        if (busy) return apply(method, this, given);
        busy = true;
        for (let index = 0; index < given.length; index++) seen ||= isOwn(given[index]);
        seen ||= isOwn(this);
        busy = false;
        return apply(method, this, given);
      };
      Object.defineProperty(owner, key, { ...descriptor, value: spy });
      restored[restored.length] = () => Object.defineProperty(owner, key, descriptor);
    }
  }
  await named[SERVER].tool({}).catch(() => {});
  await fs.promises.readFile("/dev/null");
  await import("node:util");
  for (let index = 0; index < restored.length; index++) restored[index]();
  return seen;
}

await attempt("import", () => import(NATIVE));
await attempt("import_as_node", () => import(`node:${NATIVE}`));
await attempt("import_by_url", () => importAs(`file://${NATIVE}`));
await attempt("import_by_path", () => importAs(`./${NATIVE}`));
await attempt("require", () => require(NATIVE));
await attempt("evaluated", () => eval(IMPORT));
await attempt("evaluated_globally", () => (0, eval)(IMPORT));
await attempt("evaluated_by_name", () => eval(`${IMPORT}\n//# sourceURL=codeyard:x.js`));
await attempt("constructed", () => new Function(`return ${IMPORT}`)());
await attempt("built_in", () => (globalThis as any).__codeyard_builtins.get(NATIVE));
look("global", "__codeyard_native" in globalThis);
look("active_functions", (await activeFunctions()).some(isOwn));
look("spied", await spied());
say("after_all", "allowed");
