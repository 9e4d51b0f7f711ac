// The modules that programs can import or require, and the errors for all others.

import { builtins } from "./builtins.js";
import { checkString, withCode } from "./errors.js";
import { readFileSync } from "./fs_files.js";
import { resolve } from "./path.js";

const PREFIX = "node:";
const PATH = /^(?:\.{1,2}\/|\/|file:)/;
const TOOL = "use a tool (await tools.<server>.<tool>(args))";

/** Unavailable modules of Node, such as those for networks and processes. */
const OUTSIDE = "child_process cluster dgram dns http http2 https net tls worker_threads".split(" ");
const ABSENT =
  "async_hooks diagnostics_channel inspector readline repl stream test tty v8 vm wasi zlib".split(" ");

const nameOf = (specifier) => (specifier.startsWith(PREFIX) ? specifier.slice(PREFIX.length) : specifier);

/** `node:module`, which knows the other modules. */
const moduleModule = {
  builtinModules: [...builtins.keys(), "module"],
  createRequire: () => require,
  isBuiltin: (specifier) => typeof specifier === "string" && builtins.has(nameOf(specifier)),
};
builtins.set("module", moduleModule);

/** By name: the namespace of each module that was asked for. */
const namespaces = new Map();

function makeNamespace(exports) {
  const namespace = Object.create(null);
  for (const key of Object.keys(exports)) namespace[key] = exports[key];
  namespace.default = exports;
  return Object.freeze(namespace);
}

/** The result of `import` for a name, with or without `node:`; `undefined` for an unknown name. */
export function builtin(specifier) {
  const name = nameOf(`${specifier}`);
  const exports = builtins.get(name);
  if (exports === undefined) return undefined;
  if (!namespaces.has(name)) namespaces.set(name, makeNamespace(exports));
  return namespaces.get(name);
}

function remedyFor(specifier) {
  const [name] = nameOf(specifier).split("/");
  if (OUTSIDE.includes(name)) return `The sandbox has no network and starts no processes: ${TOOL}.`;
  if (ABSENT.includes(name)) return "The sandbox has only some modules of Node: write the code with these.";
  if (PATH.test(specifier)) return "A program is one file: put the code into it, and read data with node:fs.";
  return `The sandbox has no packages and no network to get them: write the code, or ${TOOL}.`;
}

function explain(specifier) {
  const available = moduleModule.builtinModules.map((name) => PREFIX + name).join(", ");
  return `Cannot find module '${specifier}'. ${remedyFor(specifier)} There are: ${available}.`;
}

/** The error of `import` for a name unknown to `builtin`. */
export function importError(specifier) {
  return withCode(new Error(explain(`${specifier}`)), "ERR_MODULE_NOT_FOUND");
}

function requireError(specifier) {
  return Object.assign(new Error(explain(specifier)), { code: "MODULE_NOT_FOUND", requireStack: [] });
}

function checkId(id) {
  checkString(id, "id");
  if (id !== "") return;
  const message = "The argument 'id' must be a non-empty string. Received ''";
  throw withCode(new TypeError(message), "ERR_INVALID_ARG_VALUE");
}

/** Reads data from a file, as `require` does in Node. */
function requireJson(path) {
  let text;
  try {
    text = readFileSync(resolve(path), "utf8");
  } catch {
    throw requireError(path);
  }
  return JSON.parse(text);
}

/** Gives the module of a name; for a path that ends with `.json`, the data in that file. */
export function require(id) {
  checkId(id);
  const exports = builtins.get(nameOf(id));
  if (exports !== undefined) return exports;
  if (PATH.test(id) && id.endsWith(".json")) return requireJson(id);
  throw requireError(id);
}

require.resolve = function resolveName(id) {
  checkId(id);
  if (!builtins.has(nameOf(id))) throw requireError(id);
  return id;
};
require.cache = Object.create(null);

/** The program as Node describes its main module. */
export const mainModule = {
  id: ".",
  filename: "program",
  loaded: false,
  exports: {},
  children: [],
  paths: [],
};
mainModule.require = require;
require.main = mainModule;
