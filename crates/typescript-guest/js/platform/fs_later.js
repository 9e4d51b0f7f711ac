// Gives results of file operations to promises and callbacks, in a later turn of the event loop.

import { abortOf } from "./abort_error.js";
import { Immediate } from "./timer_objects.js";

/** Errors of arguments, which callback functions throw at once. */
const ARGUMENT_ERRORS = new Set(["ERR_INVALID_ARG_TYPE", "ERR_INVALID_ARG_VALUE", "ERR_OUT_OF_RANGE"]);

/** Calls a function in the next turn; the program waits for it. */
function defer(callback) {
  new Immediate(callback, [], true);
}

/**
 * Resolves to what an operation returns. The operation is performed now, so that its error has the program's
 * stack; the promise resolves in a later turn, so that timers and other work continue meanwhile.
 */
export function settle(operation, signal = undefined) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) throw abortOf(signal);
    const finish = run(operation, resolve, reject);
    defer(() => (signal?.aborted ? reject(abortOf(signal)) : finish()));
  });
}

/** Performs an operation; returns a function that reports its result. */
function run(operation, resolve, reject) {
  try {
    const result = operation();
    return () => resolve(result);
  } catch (error) {
    return () => reject(error);
  }
}

/**
 * Calls `callback(error)` or `callback(null, ...results)` in the next turn.
 * @param spread makes the results of what the operation returned
 */
export function later(operation, callback, spread = (result) => (result === undefined ? [] : [result])) {
  let inputs;
  try {
    inputs = [null, ...spread(operation())];
  } catch (error) {
    if (ARGUMENT_ERRORS.has(error?.code)) throw error;
    inputs = [error];
  }
  defer(() => callback(...inputs));
}
