// The objects behind timers: `Timeout` and `Immediate`, and the count of those that keep a program alive.

import native from "codeyard:native";
import { defineDisposal, dispose } from "./dispose.js";
import { callOutermost, drainTicks } from "./ticks.js";

const { setTimer, clearTimer, onTimer } = native;
const { trunc } = Math;

/** A longer delay counts as one millisecond, as in Node. */
const LONGEST_DELAY = 2 ** 31 - 1;

/** The delay of an immediate; timers wait for one millisecond at least. */
const AT_ONCE = 0;

/**
 * What is set, by number. The methods are bound now, so that programs cannot change what they do.
 *
 * An entry is `{id, object, callback, inputs, delay, repeats, isReferenced, isSet, isAlive}`:
 * - `callback` is undefined once it is cleared;
 * - `isReferenced`: the program waits for it;
 * - `isSet`: the host will call it;
 * - `isAlive`: from its start until it ran or was cleared; an interval stays alive meanwhile.
 */
const active = new Map();
const find = active.get.bind(active);
const add = active.set.bind(active);
const remove = active.delete.bind(active);
const clearAll = active.clear.bind(active);

let lastId = 0;
let referenced = 0;

/** How many timers and immediates still keep the program alive. Intervals do not: they would never end. */
export function pendingTimers() {
  return referenced;
}

/** Forgets the timers that an earlier program of the session has left, which the host no longer calls. */
export function begin() {
  clearAll();
  referenced = 0;
}

function readDelay(value) {
  const delay = value * 1;
  return delay >= 1 && delay <= LONGEST_DELAY ? trunc(delay) : 1;
}

function makeEntry(object, callback, inputs, delay, repeats, isReferenced) {
  const state = { isReferenced, isSet: false, isAlive: false };
  return { id: ++lastId, object, callback, inputs, delay, repeats, ...state };
}

/** Changes an entry's state, and updates the count. */
function mark(entry, isAlive, isReferenced) {
  if (!entry.repeats) referenced += Number(isAlive && isReferenced) - Number(entry.isAlive && entry.isReferenced);
  entry.isAlive = isAlive;
  entry.isReferenced = isReferenced;
}

/** Sets or resets the timer, unless it was cleared. */
function start(entry) {
  if (entry.callback === undefined) return;
  if (entry.isSet) clearTimer(entry.id);
  entry.isSet = true;
  add(entry.id, entry);
  mark(entry, true, entry.isReferenced);
  setTimer(entry.id, entry.delay);
}

function end(entry) {
  entry.isSet = false;
  remove(entry.id);
  mark(entry, false, entry.isReferenced);
}

function clear(entry) {
  if (entry.callback === undefined) return;
  entry.callback = undefined;
  entry.inputs = undefined;
  if (entry.isSet) clearTimer(entry.id);
  end(entry);
}

/** Calls the callback. A timer that repeats is set again afterwards; what is not set by then ends. */
function fire(entry) {
  entry.isSet = false;
  try {
    callOutermost(entry.callback, entry.object, entry.inputs);
  } finally {
    const wasCleared = entry.callback === undefined;
    if (entry.repeats && !wasCleared) start(entry);
    else if (!entry.isSet && !wasCleared) end(entry);
  }
}

onTimer((id) => {
  const entry = find(id);
  if (entry === undefined) return;
  try {
    fire(entry);
  } finally {
    drainTicks();
  }
});

/** Clears a timer that is named by its object, its number or the number's text; anything else is ignored. */
export let clearTimeout;

/** Clears an immediate that is named by its object; anything else is ignored. */
export let clearImmediate;

/** What `setTimeout` and `setInterval` return. */
export class Timeout {
  #entry;
  #hasNumber = false;

  /** @param {boolean} isReferenced whether the program waits for the timer */
  constructor(callback, delay, inputs, repeats, isReferenced) {
    this.#entry = makeEntry(this, callback, inputs, readDelay(delay), repeats, isReferenced);
    start(this.#entry);
  }

  static {
    const clearByNumber = (number) => {
      const object = find(number)?.object;
      if (object !== undefined && #hasNumber in object && object.#hasNumber) clear(object.#entry);
    };
    clearTimeout = (timer) => {
      if (typeof timer === "object" && timer !== null) {
        if (#entry in timer) clear(timer.#entry);
      } else if (typeof timer === "number" || typeof timer === "string") {
        clearByNumber(+timer);
      }
    };
  }

  /** Sets the timer anew, also when it ran already. */
  refresh() {
    start(this.#entry);
    return this;
  }

  ref() {
    mark(this.#entry, this.#entry.isAlive, true);
    return this;
  }

  unref() {
    mark(this.#entry, this.#entry.isAlive, false);
    return this;
  }

  hasRef() {
    return this.#entry.isReferenced;
  }

  close() {
    clear(this.#entry);
    return this;
  }

  [Symbol.toPrimitive]() {
    this.#hasNumber = true;
    return this.#entry.id;
  }
}

defineDisposal(Timeout, dispose, function disposeTimeout() {
  clearTimeout(this);
});

/** What `setImmediate` returns. */
export class Immediate {
  #entry;

  constructor(callback, inputs, isReferenced) {
    this.#entry = makeEntry(this, callback, inputs, AT_ONCE, false, isReferenced);
    start(this.#entry);
  }

  static {
    clearImmediate = (immediate) => {
      if (typeof immediate === "object" && immediate !== null && #entry in immediate) clear(immediate.#entry);
    };
  }

  ref() {
    mark(this.#entry, this.#entry.isAlive, true);
    return this;
  }

  unref() {
    mark(this.#entry, this.#entry.isAlive, false);
    return this;
  }

  hasRef() {
    return this.#entry.isAlive && this.#entry.isReferenced;
  }
}

defineDisposal(Immediate, dispose, function disposeImmediate() {
  clearImmediate(this);
});
