// The queue of `process.nextTick`, and the handling of uncaught errors.

import native from "codeyard:native";
import { checkFunction } from "./errors.js";

const { apply } = Reflect;
const { afterJobs } = native;

let queue = [];
let next = 0;
let requested = false;

/** Whether a listener of the program handled the error; set by `process`. */
let takeUncaught = () => false;

export function setUncaughtHandler(handler) {
  takeUncaught = handler;
}

/** Calls a function of the program. Its error goes to the program's listeners; without any, to the host. */
export function callOutermost(callback, self, inputs) {
  try {
    apply(callback, self, inputs);
  } catch (error) {
    if (!takeUncaught(error)) throw error;
  }
}

/** Drops ticks left by an earlier program of the session. */
export function begin() {
  queue = [];
  next = 0;
  requested = false;
}

function request() {
  if (requested) return;
  requested = true;
  afterJobs(drainTicks);
}

/** Runs all waiting ticks; those that ticks add run in the same turn. */
export function drainTicks() {
  requested = false;
  try {
    while (next < queue.length) {
      const [callback, inputs] = queue[next];
      queue[next++] = undefined;
      callOutermost(callback, undefined, inputs);
    }
  } finally {
    if (next < queue.length) {
      request();
    } else {
      queue = [];
      next = 0;
    }
  }
}

/** Calls `callback` after the current operation, before anything else that waits. */
export function nextTick(callback, ...inputs) {
  checkFunction(callback, "callback");
  queue[queue.length] = [callback, inputs];
  request();
}
