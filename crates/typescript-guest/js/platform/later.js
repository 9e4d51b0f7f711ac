// Runs a function after the current code, before any promise continues.

import native from "codeyard:native";

const { queueMicrotask } = native;

/** Uses `process.nextTick` where it exists. */
export function later(callback) {
  const nextTick = globalThis.process?.nextTick;
  if (typeof nextTick === "function") nextTick(callback);
  else queueMicrotask(callback);
}
