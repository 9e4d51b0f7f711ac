// The exception for values that cannot be copied, with V8's messages.

import native from "codeyard:native";
import { DOMException } from "./dom_exception.js";
import { functionToString, objectToString, symbolToString } from "./primordials.js";

const { getOwnPropertyDescriptor, getPrototypeOf } = Object;
const { proxyTarget } = native;
const plainToString = Object.prototype.toString;

/** A property's value, found without calling any accessor. */
function peek(value, key) {
  for (let holder = value; holder !== null; holder = getPrototypeOf(holder)) {
    const descriptor = getOwnPropertyDescriptor(holder, key);
    if (descriptor?.value !== undefined) return descriptor.value;
  }
  return undefined;
}

function describe(value) {
  if (typeof value === "symbol") return symbolToString(value);
  if (typeof value === "function") return functionToString(value);
  const proxy = proxyTarget(value);
  if (proxy !== undefined) return proxy[0] ? describe(proxy[0]) : "#<Object>";
  const constructor = peek(value, "constructor");
  const isPlain = peek(value, "toString") === plainToString;
  if (isPlain && typeof constructor === "function" && constructor.name) return `#<${constructor.name}>`;
  return objectToString(value);
}

export function cloneFailure(value) {
  return new DOMException(`${describe(value)} could not be cloned.`, "DataCloneError");
}

export const dataCloneError = (message) => new DOMException(message, "DataCloneError");
