// The life of a run, as the host's loop drives it.
import native from "codeyard:native";
import * as calls from "./calls.js";
import * as results from "./results.js";
import { mapGet, mapHas, mapSet } from "./primordials.js";
import { begin as beginProcess, finish as endProcess, takeRejection } from "./process.js";
import { begin as beginTicks } from "./ticks.js";
import { begin as beginTimers } from "./timer_objects.js";
import { knowServers } from "./tools.js";

const { apply } = Reflect;
const { defineProperty, getOwnPropertyDescriptor, hasOwn } = Object;
const { clear, delete: deleteKey, forEach, set: setKey } = Map.prototype;
const { stringify } = JSON;
const { toWellFormed } = String.prototype;
const StringOf = String;

const kept = new Map();
const rejections = new Map();

/** Begins a run: `names` are those that its program binds, `servers` all names of servers. */
export function begin(names, servers, isOnServer) {
  calls.begin(isOnServer);
  results.begin();
  beginProcess();
  beginTimers();
  beginTicks();
  native.forgetAfterJobs();
  apply(clear, rejections, []);
  knowServers(servers);
  for (let index = 0; index < names.length; index++) define(names[index]);
}

/** A program assigns to its names in strict mode, which takes only names that exist. */
function define(name) {
  if (hasOwn(globalThis, name)) {
    const { writable, set } = getOwnPropertyDescriptor(globalThis, name);
    if (writable || set) return;
  }
  const shape = { __proto__: null, value: undefined, writable: true, enumerable: true, configurable: true };
  defineProperty(globalThis, name, shape);
}

/** Checks what a program imports from a module. */
export function imported(namespace, specifier, wanted) {
  for (const name of wanted) {
    if (!(name in namespace)) {
      const has = Object.keys(namespace).slice(0, 20).join(", ");
      throw new SyntaxError(`'${specifier}' has no export '${name}'; it has: ${has || "none"}`);
    }
  }
  return namespace;
}

/** A promise was rejected, or a rejected one handled after all. */
export function rejected(promise, reason, isHandled) {
  if (isHandled) apply(deleteKey, rejections, [promise]);
  else apply(setKey, rejections, [promise, reason]);
}

/** An error beside the program's own value; `undefined` if there is none. */
export function leftover() {
  const { first, count } = calls.forgotten();
  if (first !== undefined) {
    const { label, stack } = first;
    const more = count > 1 ? ` (and ${count - 1} more)` : "";
    const message = `${label}(...) was never awaited${more}; write await ${label}(...)`;
    return { __proto__: null, kind: "UnawaitedCall", message, stack };
  }
  let found;
  apply(forEach, rejections, [
    (reason, promise) => {
      if (!takeRejection(reason, promise)) found ??= describe(reason);
    },
  ]);
  if (found !== undefined) return found;
  const status = endProcess();
  return status === 0 ? undefined : { __proto__: null, kind: "SystemExit", message: `exit status ${status}`, stack: "" };
}

/** The end of a run that completed with this value, for the frame that reports it. */
export function finish(value, assignsResult, number, most) {
  const result = value === undefined && assignsResult ? globalThis.result : value;
  const text = results.convert(result);
  const content = results.content();
  if (text === undefined || most === undefined || text.length <= most) return { __proto__: null, result: text, content };
  const name = `r${number}`;
  mapSet(kept, name, result);
  const { kind, size, sample } = results.beginning(result, text.length);
  return { __proto__: null, name, kind, size, sample: stringify(sample), content };
}

/** Forgets names that a program of the host itself has bound. */
export function forget(names) {
  for (let index = 0; index < names.length; index++) delete globalThis[names[index]];
}

/** A result that was too large to show, by its name; without a name the newest. */
export function keptResult(name) {
  let [wanted, names] = [name, ""];
  apply(forEach, kept, [
    (_, each) => {
      wanted = name ?? each;
      names = names === "" ? each : `${names}, ${each}`;
    },
  ]);
  if (!mapHas(kept, wanted)) {
    throw new RangeError(`no result '${wanted}' is kept in this session; kept: ${names || "none"}`);
  }
  return mapGet(kept, wanted);
}

/** The text of a value, without the lone surrogates that no frame can hold. */
function wellFormed(value) {
  return apply(toWellFormed, StringOf(value), []);
}

/** Kind, one line and stack of whatever was thrown. */
export function describe(thrown) {
  try {
    if (thrown instanceof Error || (typeof thrown === "object" && thrown !== null && "message" in thrown)) {
      const cause = thrown.cause === undefined ? undefined : describe(thrown.cause);
      return {
        __proto__: null,
        kind: String(thrown.name || "Error"),
        message: wellFormed(thrown.message),
        stack: typeof thrown.stack === "string" ? thrown.stack : "",
        code: typeof thrown.code === "string" ? thrown.code : undefined,
        toolKind: thrown instanceof calls.ToolError ? thrown.kind : undefined,
        cause,
      };
    }
    const text = typeof thrown === "object" ? stringify(thrown) : thrown;
    return { __proto__: null, kind: "Uncaught", message: wellFormed(text), stack: "" };
  } catch {
    return { __proto__: null, kind: "Uncaught", message: "a value whose text could not be made", stack: "" };
  }
}

export const { reply } = calls;
