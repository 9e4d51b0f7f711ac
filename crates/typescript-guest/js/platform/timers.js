// `setTimeout`, `setInterval`, `setImmediate`, `queueMicrotask`, and the module `node:timers`.

import native from "codeyard:native";
import { checkFunction } from "./errors.js";
import { callOutermost } from "./ticks.js";
import { Immediate, Timeout, clearImmediate, clearTimeout } from "./timer_objects.js";
import promises from "./timers_promises.js";

const { queueMicrotask: queueJob } = native;
const { defineProperty } = Object;
const PROMISIFIED = Symbol.for("nodejs.util.promisify.custom");

export { pendingTimers } from "./timer_objects.js";
export { clearImmediate, clearTimeout, promises };

export function setTimeout(callback, delay, ...inputs) {
  checkFunction(callback, "callback");
  return new Timeout(callback, delay, inputs, false, true);
}

export function setInterval(callback, delay, ...inputs) {
  checkFunction(callback, "callback");
  return new Timeout(callback, delay, inputs, true, true);
}

export function setImmediate(callback, ...inputs) {
  checkFunction(callback, "callback");
  return new Immediate(callback, inputs, true);
}

export function clearInterval(timer) {
  clearTimeout(timer);
}

export function queueMicrotask(callback) {
  checkFunction(callback, "callback");
  queueJob(() => callOutermost(callback, undefined, []));
}

defineProperty(setTimeout, PROMISIFIED, { get: () => promises.setTimeout, enumerable: true });
defineProperty(setImmediate, PROMISIFIED, { get: () => promises.setImmediate, enumerable: true });

export default {
  setTimeout,
  clearTimeout,
  setImmediate,
  clearImmediate,
  setInterval,
  clearInterval,
  promises,
};
