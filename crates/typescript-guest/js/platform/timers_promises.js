// The module `node:timers/promises`: timers as promises and as an asynchronous iterator.

import { abortOf, checkSignal } from "./abort_error.js";
import { checkBoolean, checkObject, invalidArgType } from "./errors.js";
import { illegalConstructor } from "./node_error.js";
import { Immediate, Timeout, clearImmediate, clearTimeout } from "./timer_objects.js";

/** Reads `{signal, ref}`; throws for anything wrong, and when the signal is aborted already. */
function readOptions(options) {
  if (options === null || typeof options !== "object") throw invalidArgType("options", "object", options);
  const { signal, ref = true } = options;
  checkSignal(signal, "options.signal");
  checkBoolean(ref, "options.ref");
  if (signal?.aborted) throw abortOf(signal);
  return { signal, ref };
}

/**
 * A promise that `start` fulfils later.
 * @param start `(resolve, isReferenced) => clear`
 */
async function promiseOf(start, options) {
  const { signal, ref } = readOptions(options);
  let clear;
  let stop;
  try {
    return await new Promise((resolve, reject) => {
      clear = start(resolve, ref);
      stop = () => {
        clear();
        reject(abortOf(signal));
      };
      signal?.addEventListener("abort", stop);
    });
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

export function setTimeout(delay, value, options = {}) {
  const start = (resolve, isReferenced) => {
    const timer = new Timeout(resolve, delay, [value], false, isReferenced);
    return () => clearTimeout(timer);
  };
  return promiseOf(start, options);
}

export function setImmediate(value, options = {}) {
  const start = (resolve, isReferenced) => {
    const immediate = new Immediate(resolve, [value], isReferenced);
    return () => clearImmediate(immediate);
  };
  return promiseOf(start, options);
}

/** Yields `value` once for each time that the interval passed, also for those that passed meanwhile. */
export async function* setInterval(delay, value, options = {}) {
  checkObject(options, "options");
  const { signal, ref } = readOptions(options);
  let passed = 0;
  let wake = () => {};
  const pass = () => {
    passed += 1;
    wake();
  };
  const stop = () => wake();
  const timer = new Timeout(pass, delay, [], true, ref);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    while (!signal?.aborted) {
      if (passed === 0) await new Promise((resolve) => (wake = resolve));
      for (; passed > 0; passed -= 1) yield value;
    }
    throw abortOf(signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

/** The draft of a standard scheduler that Node offers. */
class Scheduler {
  constructor() {
    throw illegalConstructor();
  }

  yield() {
    return setImmediate();
  }

  wait(delay, options) {
    return setTimeout(delay, undefined, { signal: options?.signal });
  }
}

export const scheduler = Object.create(Scheduler.prototype);

export default { setTimeout, setImmediate, setInterval, scheduler };
