// The errors of the interfaces around `fetch`, with Node's messages.

import { withCode } from "./errors.js";

/** The error of a member called on an object of another class. */
export function invalidCall() {
  return withCode(new TypeError("Illegal invocation"), "ERR_INVALID_THIS");
}

/** Throws if a method got too few arguments. */
export function needArguments(method, given, needed) {
  if (given >= needed) return;
  const found = given === 0 ? "0" : `only ${given}`;
  throw new TypeError(`${method}: ${needed} argument${needed > 1 ? "s" : ""} required, but ${found} found.`);
}

/** Reads an object of options; `undefined` and `null` count as empty. */
export function readDictionary(value, where) {
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" && typeof value !== "function") {
    throw new TypeError(`${where}: Expected ${String(value)} to be one of: Null, Undefined, Object.`);
  }
  return value;
}
