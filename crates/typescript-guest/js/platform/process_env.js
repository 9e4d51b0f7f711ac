// `process.env`: empty at first, and every value becomes text.

import { withCode } from "./errors.js";

function textOf(value) {
  if (typeof value === "symbol") throw new TypeError("Cannot convert a Symbol value to a string");
  return `${value}`;
}

function refuse(reason) {
  return withCode(new TypeError(`'process.env' ${reason}`), "ERR_INVALID_OBJECT_DEFINE_PROPERTY");
}

const traps = {
  set(target, key, value) {
    target[textOf(key)] = textOf(value);
    return true;
  },

  defineProperty(target, key, descriptor) {
    const { configurable, writable, enumerable } = descriptor;
    if (!("value" in descriptor)) throw refuse("does not accept an accessor(getter/setter) descriptor");
    if (!configurable || !writable || !enumerable) {
      throw refuse("only accepts a configurable, writable, and enumerable data descriptor");
    }
    return Reflect.defineProperty(target, textOf(key), { ...descriptor, value: textOf(descriptor.value) });
  },
};

export const env = new Proxy({}, traps);
