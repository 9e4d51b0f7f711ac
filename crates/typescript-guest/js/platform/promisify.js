// Turns functions with callbacks into functions with promises, and back.

import { checkFunction, withCode } from "./errors.js";
import { later } from "./later.js";

const { defineProperties, defineProperty, getOwnPropertyDescriptors, getPrototypeOf, setPrototypeOf } =
  Object;
const { apply } = Reflect;

export const customPromisify = Symbol.for("nodejs.util.promisify.custom");

/** A function that is its own version with promises. */
function markPromisified(target) {
  return defineProperty(target, customPromisify, { value: target, configurable: true });
}

/** Makes a function that answers with a promise instead of calling back with `(error, value)`. */
export function promisify(original) {
  checkFunction(original, "original");
  const custom = original[customPromisify];
  if (custom) {
    checkFunction(custom, "util.promisify.custom");
    return markPromisified(custom);
  }
  function promisified(...inputs) {
    return new Promise((resolve, reject) => {
      const callback = (error, value) => (error ? reject(error) : resolve(value));
      apply(original, this, [...inputs, callback]);
    });
  }
  setPrototypeOf(promisified, getPrototypeOf(original));
  return defineProperties(markPromisified(promisified), getOwnPropertyDescriptors(original));
}

promisify.custom = customPromisify;

/** A callback tells failure by its first argument, so a falsy reason needs an error around it. */
function asFailure(reason) {
  if (reason) return reason;
  const error = withCode(new Error("Promise was rejected with falsy value"), "ERR_FALSY_VALUE_REJECTION");
  error.reason = reason;
  return error;
}

/** Makes a function that calls back with `(error, value)` instead of answering with a promise. */
export function callbackify(original) {
  checkFunction(original, "original");
  function callbackified(...inputs) {
    const last = inputs.pop();
    checkFunction(last, "last argument");
    const call = (...results) => later(() => apply(last, this, results));
    apply(original, this, inputs).then(
      (value) => call(null, value),
      (reason) => call(asFailure(reason)),
    );
  }
  const properties = getOwnPropertyDescriptors(original);
  if (typeof properties.length.value === "number") properties.length.value += 1;
  if (typeof properties.name.value === "string") properties.name.value += "Callbackified";
  return defineProperties(callbackified, properties);
}
