// Modules that programs import: tools, files of the session, the engine's modules and packages.
import { dirname } from "node:path";
import vm from "node:vm";
import { send } from "./lines.js";
import { mapDelete, mapGet, mapSet, mapSize, stringEndsWith, stringIncludes } from "./primordials.js";
import { server } from "./tools.js";

const { SourceTextModule, SyntheticModule } = vm;
const { keys } = Object;
const isDeno = "Deno" in globalThis;

const asked = new Map();
const loaded = new Map();
let lastId = 0;

/** Asks the parent to resolve a module. */
function find(specifier, from) {
  const id = ++lastId;
  return new Promise((resolve) => {
    mapSet(asked, id, resolve);
    send({ t: "module", id, specifier: `${specifier}`, from });
  });
}

/** Whether the program waits for a module. */
export function isImporting() {
  return mapSize(asked) > 0;
}

/** The parent's answer. */
export function answer({ id, module }) {
  mapGet(asked, id)?.(module);
  mapDelete(asked, id);
}

/** The namespace that a program imports. */
export async function bring(specifier) {
  const found = await find(specifier, "");
  if (isDeno || found.kind !== "file") return namespaceOf(found, specifier);
  const module = await moduleOf(found);
  return evaluated(module);
}

async function namespaceOf(found, specifier) {
  switch (found.kind) {
    case "tool":
      return toolNamespace(found);
    case "file":
      return stringEndsWith(found.path, ".json") ? { default: JSON.parse(found.text) } : import(`file://${found.path}`);
    case "builtin":
      return builtin(found.name, specifier);
    default:
      throw failure(found);
  }
}

/** A module of the engine, else a package. */
async function builtin(name, specifier) {
  try {
    return await import(stringIncludes(name, ":") ? name : `node:${name}`);
  } catch {
    return await import(specifier);
  }
}

function toolNamespace({ server: name, tool, exports }) {
  const tools = server(name);
  const found = tool === null ? tools : tools[tool];
  const namespace = { __proto__: null, default: found };
  for (const each of exports) namespace[each] = tool === null ? tools[each] : found;
  return namespace;
}

function failure({ code, message }) {
  if (code === undefined) return new SyntaxError(message);
  return Object.assign(new Error(message), { code });
}

async function evaluated(module) {
  if (module.status === "unlinked") await module.link(link);
  await module.evaluate();
  return module.namespace;
}

async function link(specifier, from) {
  const found = await find(specifier, from.identifier);
  return moduleOf(found, specifier);
}

/** The module of a file as source text, of anything else with what it exports. */
async function moduleOf(found, specifier) {
  const isText = found.kind === "file" && !stringEndsWith(found.path, ".json");
  const key = isText ? found.path : `${found.kind}:${specifier ?? found.path}`;
  let module = mapGet(loaded, key);
  if (module === undefined) {
    module = isText ? textModule(found) : valuesModule(await namespaceOf(found, specifier), key);
    mapSet(loaded, key, module);
  }
  return module;
}

function textModule({ path, text }) {
  return new SourceTextModule(text, {
    identifier: path,
    initializeImportMeta: (meta) => {
      meta.url = `file://${path}`;
      meta.filename = path;
      meta.dirname = dirname(path);
    },
    importModuleDynamically: async (specifier, from) => {
      const module = await link(specifier, from);
      await evaluated(module);
      return module;
    },
  });
}

function valuesModule(namespace, key) {
  const names = [...new Set([...keys(namespace), "default"])];
  return new SyntheticModule(
    names,
    function define() {
      for (const name of names) this.setExport(name, name in namespace ? namespace[name] : namespace);
    },
    { identifier: key },
  );
}
