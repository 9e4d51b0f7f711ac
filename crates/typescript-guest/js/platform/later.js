// Runs a function once the present code has ended, before any promise goes on.

import native from "codeyard:native";

const { queueMicrotask } = native;

/** Uses `process.nextTick` where it exists. */
export function later(callback) {
  const nextTick = globalThis.process?.nextTick;
  if (typeof nextTick === "function") nextTick(callback);
  else queueMicrotask(callback);
}
