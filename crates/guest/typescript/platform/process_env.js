// `process.env`: empty at first, and every value becomes text.

import { withCode } from "./node_error.js";

function textOf(value) {
  if (typeof value === "symbol") throw new TypeError("Cannot convert a Symbol value to a string");
  return `${value}`;
}

const traps = {
  set(target, key, value) {
    target[textOf(key)] = textOf(value);
    return true;
  },

  defineProperty(target, key, descriptor) {
    const { configurable, writable, enumerable } = descriptor;
    const isRight = "value" in descriptor && configurable && writable && enumerable;
    if (!isRight) {
      const words = "only accepts a configurable, writable, and enumerable data descriptor";
      throw withCode(new TypeError(`'process.env' ${words}`), "ERR_INVALID_OBJECT_DEFINE_PROPERTY");
    }
    return Reflect.defineProperty(target, textOf(key), { ...descriptor, value: textOf(descriptor.value) });
  },
};

export const env = new Proxy({}, traps);
