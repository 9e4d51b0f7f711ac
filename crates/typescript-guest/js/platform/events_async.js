// Events as promises and as an asynchronous iteration: `once` and `on` of `node:events`.

import { AbortError, checkAbortSignal, checkFunction, checkInteger, invalidArgType } from "./errors.js";
import native from "codeyard:native";

const { create, getPrototypeOf, setPrototypeOf } = Object;
const { queueMicrotask } = native;
const AsyncIterator = getPrototypeOf(getPrototypeOf(async function* () {}).prototype);

/** Adds a listener to an EventEmitter or an EventTarget. */
function listen(emitter, name, listener, options) {
  if (typeof emitter.on === "function") {
    if (options?.once) emitter.once(name, listener);
    else emitter.on(name, listener);
  } else if (typeof emitter.addEventListener === "function") {
    emitter.addEventListener(name, listener, options);
  } else throw invalidArgType("emitter", "EventEmitter", emitter);
}

function unlisten(emitter, name, listener) {
  if (typeof emitter.removeListener === "function") emitter.removeListener(name, listener);
  else if (typeof emitter.removeEventListener === "function") emitter.removeEventListener(name, listener);
  else throw invalidArgType("emitter", "EventEmitter", emitter);
}

function abortError(signal) {
  return new AbortError(undefined, { cause: signal.reason });
}

function checkSignal(signal) {
  checkAbortSignal(signal, "options.signal");
  if (signal?.aborted) throw abortError(signal);
}

/** Resolves to the arguments of the next event; an event `error` before it rejects. */
export async function once(emitter, name, options = {}) {
  const signal = options?.signal;
  checkSignal(signal);
  return new Promise((resolve, reject) => {
    const end = () => {
      unlisten(emitter, name, succeed);
      if (typeof emitter.removeListener === "function") unlisten(emitter, "error", fail);
      if (signal !== undefined) unlisten(signal, "abort", abort);
    };
    const succeed = (...inputs) => {
      end();
      resolve(inputs);
    };
    const fail = (error) => {
      end();
      reject(error);
    };
    const abort = () => fail(abortError(signal));
    listen(emitter, name, succeed, { once: true });
    if (name !== "error" && typeof emitter.once === "function") emitter.once("error", fail);
    if (signal !== undefined) listen(signal, "abort", abort, { once: true });
  });
}

/** Items that wait in order; taking the first costs the same however many there are. */
class Queue {
  #items = [];
  #first = 0;

  get size() {
    return this.#items.length - this.#first;
  }

  add(item) {
    this.#items.push(item);
  }

  take() {
    const item = this.#items[this.#first];
    this.#items[this.#first++] = undefined;
    if (this.#first > 1024 && this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }
}

/** One iteration's unread events, or its pending requests for events. */
class Events {
  #events = new Queue();
  #requests = new Queue();
  #removals = [];
  #error;
  #hasError = false;
  #isFinished = false;
  #isPaused = false;
  #emitter;
  #high;
  #low;

  constructor(emitter, high, low) {
    this.#emitter = emitter;
    this.#high = high;
    this.#low = low;
  }

  listen(emitter, name, listener) {
    listen(emitter, name, listener);
    this.#removals.push(() => unlisten(emitter, name, listener));
  }

  add(value) {
    if (this.#requests.size > 0) {
      this.#requests.take().resolve({ value, done: false });
      return;
    }
    this.#events.add(value);
    if (!this.#isPaused && this.#events.size > this.#high) {
      this.#isPaused = true;
      this.#emitter.pause();
    }
  }

  next() {
    if (this.#events.size > 0) {
      const value = this.#events.take();
      if (this.#isPaused && this.#events.size < this.#low) {
        this.#emitter.resume();
        this.#isPaused = false;
      }
      return Promise.resolve({ value, done: false });
    }
    if (this.#hasError) {
      this.#hasError = false;
      return Promise.reject(this.#error);
    }
    if (this.#isFinished) return this.close();
    return new Promise((resolve, reject) => this.#requests.add({ resolve, reject }));
  }

  fail(error) {
    if (this.#requests.size > 0) this.#requests.take().reject(error);
    else {
      this.#error = error;
      this.#hasError = true;
    }
    this.close();
  }

  close() {
    for (const remove of this.#removals.reverse()) remove();
    this.#removals = [];
    this.#isFinished = true;
    while (this.#requests.size > 0) this.#requests.take().resolve({ value: undefined, done: true });
    return Promise.resolve({ value: undefined, done: true });
  }
}

/**
 * Iterates the arguments of an event, each as an array, until one of the events `close` of the options. From
 * `highWaterMark` events on the emitter is paused.
 */
export function on(emitter, name, options = {}) {
  const { signal } = options;
  checkSignal(signal);
  const high = options.highWaterMark ?? options.highWatermark ?? Number.MAX_SAFE_INTEGER;
  checkInteger(high, "options.highWaterMark", 1);
  const low = options.lowWaterMark ?? options.lowWatermark ?? 1;
  checkInteger(low, "options.lowWaterMark", 1);
  const events = new Events(emitter, high, low);
  events.listen(emitter, name, (...inputs) => events.add(inputs));
  if (name !== "error" && typeof emitter.on === "function")
    events.listen(emitter, "error", (error) => events.fail(error));
  for (const closing of options.close ?? []) events.listen(emitter, closing, () => events.close());
  if (signal !== undefined) events.listen(signal, "abort", () => events.fail(abortError(signal)));
  const iterator = {
    next: () => events.next(),
    return: () => events.close(),
    throw(error) {
      if (!(error instanceof Error)) throw invalidArgType("EventEmitter.AsyncIterator", "Error", error);
      events.fail(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
  return setPrototypeOf(iterator, AsyncIterator);
}

/** Calls a function when a signal aborts, even if other listeners stop the event. */
export function addAbortListener(signal, listener) {
  if (signal === undefined) throw invalidArgType("signal", "AbortSignal", signal);
  checkAbortSignal(signal, "signal");
  checkFunction(listener, "listener");
  const disposable = create(null);
  let remove;
  if (signal.aborted) queueMicrotask(() => listener());
  else {
    signal.addEventListener("abort", listener, { once: true });
    remove = () => signal.removeEventListener("abort", listener);
  }
  if (Symbol.dispose !== undefined) disposable[Symbol.dispose] = () => remove?.();
  return disposable;
}
