// The tree `tools`: every server is a property, every tool a function of its server.
import { callTool, host } from "./calls.js";
import { arrayIncludes, mapGet, mapSet, regExpExec, setHas, stringSlice } from "./primordials.js";

/** Names that the language looks up by itself, and that no server or tool stands for. */
const RESERVED = new Set(["then", "toJSON", "toString", "valueOf", "constructor", "prototype"]);

const servers = new Map();
let known = [];

/** Sets the names of all servers, for programs that list them. */
export function knowServers(names) {
  known = names;
}

/** The printed form of a part of the tree. */
const shownAs = (text) => ({ __proto__: null, [Symbol.for("nodejs.util.inspect.custom")]: text });

export const tools = new Proxy(shownAs(() => `[tools: ${known}]`), {
  get: (_, name) => (isName(name) ? server(name) : described(name, "tools")),
  has: (_, name) => arrayIncludes(known, name),
  ownKeys: () => known,
  getOwnPropertyDescriptor: (_, name) =>
    arrayIncludes(known, name) ? { value: server(name), enumerable: true, configurable: true } : undefined,
  set: refuse,
  defineProperty: refuse,
  deleteProperty: refuse,
});

/** The tools of one server. */
export function server(name) {
  let found = mapGet(servers, name);
  if (found === undefined) {
    const functions = new Map();
    found = new Proxy(shownAs(() => `[tools.${name}]`), {
      get: (_, tool) => (isName(tool) ? toolOf(name, tool, functions) : described(tool, `tools.${name}`)),
      set: refuse,
      defineProperty: refuse,
      deleteProperty: refuse,
    });
    mapSet(servers, name, found);
  }
  return found;
}

function toolOf(serverName, name, functions) {
  let found = mapGet(functions, name);
  if (found === undefined) {
    found = { [name]: (...given) => callTool(serverName, name, given) }[name];
    mapSet(functions, name, found);
  }
  return found;
}

function isName(key) {
  return typeof key === "string" && !setHas(RESERVED, key);
}

/** The value for printing or converting a part of the tree. */
function described(key, label) {
  if (key === "toString" || key === "toJSON") return () => `[${label}]`;
  if (key === Symbol.toStringTag) return label;
  return undefined;
}

function refuse(_, name) {
  throw new TypeError(`tools cannot be changed; use another name than tools.${String(name)}`);
}

/** Calls a tool by its name, `"server.tool"` or `("server", "tool")`, the older form. */
export function toolcall(first, second, third) {
  if (typeof second === "string") return callTool(first, second, [third]);
  const cut = regExpExec(/[./]/, first)?.index;
  if (cut === undefined) return callTool("", first, [second]);
  return callTool(stringSlice(first, 0, cut), stringSlice(first, cut + 1), [second]);
}

/** Tools that match a query, best first; `more` and `nearest` as in the tool `search_tools`. */
export async function searchTools(query, limit = 5, detail = "summary") {
  const options = typeof limit === "object" && limit !== null ? limit : { limit, detail };
  const found = await host("search", {
    query: String(query),
    limit: options.limit ?? 5,
    detail: options.detail ?? "summary",
    language: "typescript",
  });
  const hits = found.tools ?? found;
  for (const key of ["more", "nearest", "pending"]) {
    if (found[key] !== undefined) Object.defineProperty(hits, key, { value: found[key], enumerable: false });
  }
  return hits;
}

/** Everything that programs may use, as text. */
export async function manual() {
  const { text } = await host("manual", { language: "typescript" });
  return text;
}

/** All servers: `{name, alias, description, listed}`. */
export function listServers() {
  return host("servers", {});
}

/** The tools of a server: `{name, alias, description, signature}`. */
export async function listTools(server) {
  const { tools: found } = await host("tools", { server: String(server), detail: "summary" });
  return found;
}
