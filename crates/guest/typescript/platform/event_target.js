// `EventTarget`: listeners of the web's kind, in the order and with the errors of Node.

import { checkSignal } from "./abort_error.js";
import { checkObject, invalidArgType, invalidArgValue, missingArgs, withCode } from "./errors.js";
import { dispatching } from "./event.js";
import { asInterface } from "./interface.js";
import { invalidThis } from "./node_error.js";
import { nextTick } from "./ticks.js";
import { showFields } from "./web_inspect.js";

const { apply } = Reflect;

/** Throws from the outermost level, where listeners of uncaught errors hear of it. */
function throwLater(error) {
  nextTick(() => {
    throw error;
  });
}

/** Tells whether there is something to call; throws for what can never be a listener. */
function isListener(value) {
  if (value === undefined || value === null) return false;
  if (typeof value === "function" || typeof value === "object") return true;
  throw invalidArgType("listener", "EventListener", value);
}

function readOptions(options) {
  if (options === undefined || options === null) return {};
  if (typeof options === "boolean") return { capture: options };
  checkObject(options, "options");
  const { once, capture, passive, signal } = options;
  checkSignal(signal, "options.signal");
  return { once: Boolean(once), capture: Boolean(capture), passive: Boolean(passive), signal };
}

function readType(type) {
  if (typeof type === "symbol") throw invalidArgValue("value", type);
  return `${type}`;
}

const isCapture = (options) => Boolean(typeof options === "boolean" ? options : options?.capture);

/** What a target knows of one listener; `next` makes a list, so that listeners added meanwhile are called. */
function makeRecord(listener, { once = false, capture = false, passive = false }) {
  return { listener, once, capture, passive, isRemoved: false, next: undefined };
}

/** Calls a listener. Neither its error nor its promise's rejection stops the others. */
function callListener(record, event) {
  const { listener } = record;
  try {
    const isFunction = typeof listener === "function";
    const callback = isFunction ? listener : listener.handleEvent;
    if (callback === undefined) return;
    const result = apply(callback, isFunction ? event.currentTarget : listener, [event]);
    if (result !== undefined && result !== null && typeof result.then === "function") {
      result.then(undefined, throwLater);
    }
  } catch (error) {
    throwLater(error);
  }
}

/** The listeners of a type, as `getEventListeners` of `node:events` gives them. */
export let listenersOf;

export class EventTarget {
  /** By type: the first record of a list. */
  #first = new Map();

  static {
    listenersOf = (target, type) => {
      const listeners = [];
      for (let record = target.#first.get(type); record !== undefined; record = record.next) {
        listeners.push(record.listener);
      }
      return listeners;
    };
  }

  static #from(value) {
    if (value === null || typeof value !== "object" || !(#first in value)) throw invalidThis("EventTarget");
    return value;
  }

  addEventListener(type, listener, options = undefined) {
    const target = EventTarget.#from(this);
    if (arguments.length < 2) throw missingArgs("type", "listener");
    const { signal, ...flags } = readOptions(options);
    if (!isListener(listener) || signal?.aborted) return;
    const name = readType(type);
    if (!target.#append(name, makeRecord(listener, flags))) return;
    const remove = () => target.removeEventListener(name, listener, flags);
    signal?.addEventListener("abort", remove, { once: true });
  }

  /** Adds a record at the end; tells whether it is new. */
  #append(name, record) {
    const first = this.#first.get(name);
    if (first === undefined) {
      this.#first.set(name, record);
      return true;
    }
    for (let other = first; ; other = other.next) {
      if (other.listener === record.listener && other.capture === record.capture) return false;
      if (other.next === undefined) {
        other.next = record;
        return true;
      }
    }
  }

  removeEventListener(type, listener, options = undefined) {
    const target = EventTarget.#from(this);
    if (arguments.length < 2) throw missingArgs("type", "listener");
    if (!isListener(listener)) return;
    target.#remove(readType(type), listener, isCapture(options));
  }

  #remove(name, listener, capture) {
    let before;
    for (let record = this.#first.get(name); record !== undefined; record = record.next) {
      if (record.listener === listener && record.capture === capture) {
        record.isRemoved = true;
        if (before !== undefined) before.next = record.next;
        else if (record.next !== undefined) this.#first.set(name, record.next);
        else this.#first.delete(name);
        return;
      }
      before = record;
    }
  }

  dispatchEvent(event) {
    const target = EventTarget.#from(this);
    if (arguments.length === 0) throw missingArgs("event");
    if (!dispatching.isEvent(event)) throw invalidArgType("event", "Event", event);
    if (dispatching.isRunning(event)) {
      const error = new Error(`The event "${event.type}" is already being dispatched`);
      throw withCode(error, "ERR_EVENT_RECURSION");
    }
    dispatching.begin(event, target);
    target.#run(event);
    dispatching.end(event);
    return !event.defaultPrevented;
  }

  #run(event) {
    let record = this.#first.get(event.type);
    while (record !== undefined && !dispatching.isStopped(event)) {
      const { next, listener, capture, once, passive, isRemoved } = record;
      if (!isRemoved) {
        if (once) this.#remove(event.type, listener, capture);
        dispatching.enterListener(event, passive);
        callListener(record, event);
      }
      record = next;
    }
  }
}

asInterface(EventTarget);
showFields(EventTarget, () => ({}));

/**
 * Adds a property like `onabort`: a listener that can be exchanged and keeps its place.
 * @param check throws if the property was asked of something else than an object of the class
 */
export function defineHandler(Class, type, check) {
  const handlers = new WeakMap();
  const add = (target, handler) => {
    const slot = { handler };
    handlers.set(target, slot);
    target.addEventListener(type, function (...inputs) {
      return typeof slot.handler === "function" ? apply(slot.handler, this, inputs) : undefined;
    });
  };
  Object.defineProperty(Class.prototype, `on${type}`, {
    get() {
      check(this);
      return handlers.get(this)?.handler ?? null;
    },
    set(value) {
      check(this);
      const slot = handlers.get(this);
      if (slot === undefined) add(this, value);
      else slot.handler = value;
    },
    enumerable: true,
    configurable: true,
  });
}
