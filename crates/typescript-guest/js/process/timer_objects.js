// Counts the timers of a program, which the end of its run waits for, and ends those that it has left.
import process from "node:process";

const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis;
const { apply } = Reflect;
const { defineProperty, getOwnPropertySymbols } = Object;
const { add, delete: remove, forEach, clear } = Set.prototype;

const [once, repeated, immediates] = [new Set(), new Set(), new Set()];
let changed = () => {};

/** Calls `callback` whenever a timer has run or was cleared. */
export function onChange(callback) {
  changed = callback;
}

/** How many timers still keep the program alive. Intervals do not: they would never end. */
export function pendingTimers() {
  let count = 0;
  const look = (timer) => {
    if (timer._destroyed || timer.hasRef?.() === false) return;
    count += 1;
  };
  apply(forEach, once, [look]);
  apply(forEach, immediates, [look]);
  return count;
}

/** Ends the timers that a program has left. */
export function begin() {
  apply(forEach, once, [(timer) => clearTimeout(timer)]);
  apply(forEach, repeated, [(timer) => clearInterval(timer)]);
  apply(forEach, immediates, [(timer) => clearImmediate(timer)]);
  for (const timers of [once, repeated, immediates]) apply(clear, timers, []);
}

function wrapped(original, timers, isRepeated) {
  const { name } = original;
  const set = {
    [name](callback, ...inputs) {
      if (typeof callback !== "function") return original(callback, ...inputs);
      const timer = original((...given) => {
        if (!isRepeated) apply(remove, timers, [timer]);
        try {
          return apply(callback, undefined, given);
        } finally {
          changed();
        }
      }, ...inputs);
      apply(add, timers, [timer]);
      return timer;
    },
  }[name];
  for (const symbol of getOwnPropertySymbols(original)) set[symbol] = original[symbol];
  return set;
}

function clearing(original, timers) {
  const { name } = original;
  return {
    [name](timer) {
      original(timer);
      apply(remove, timers, [timer]);
      changed();
    },
  }[name];
}

/** Replaces the global functions. */
export function install() {
  const functions = {
    setTimeout: wrapped(setTimeout, once, false),
    setInterval: wrapped(setInterval, repeated, true),
    setImmediate: wrapped(setImmediate, immediates, false),
    clearTimeout: clearing(clearTimeout, once),
    clearInterval: clearing(clearInterval, repeated),
    clearImmediate: clearing(clearImmediate, immediates),
  };
  for (const [name, value] of Object.entries(functions)) {
    defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: true });
  }
}

/** Runs everything that is due. */
export function turn() {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Calls `look` again and again without keeping the process alive; returns a function that ends this. */
export function watch(look, milliseconds) {
  const timer = setInterval(look, milliseconds);
  timer.unref();
  return () => clearInterval(timer);
}

/** Resources that keep the process alive; undefined if unknown. */
export function activeResources() {
  if ("Deno" in globalThis) return undefined;
  return process.getActiveResourcesInfo();
}
