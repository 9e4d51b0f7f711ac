// `EventTarget`: listeners of the web's kind, in the order and with the errors of Node.

import { checkSignal } from "./abort_error.js";
import { checkObject, invalidArgType, invalidArgValue, missingArgs, withCode } from "./errors.js";
import { dispatching } from "./event.js";
import { asInterface } from "./interface.js";
import { ListenerList } from "./listener_list.js";
import { invalidThis } from "./node_error.js";
import { nextTick } from "./ticks.js";
import { showFields } from "./web_inspect.js";

const { apply } = Reflect;

/** Throws at the outermost level, so that listeners of uncaught errors receive the error. */
function throwLater(error) {
  nextTick(() => {
    throw error;
  });
}

/** Whether the value is a listener; throws for values that can never be one. */
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

/** Calls a listener. Neither its error nor its promise's rejection stops the others. */
function callListener(listener, event) {
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
  /** By type: a list that is not empty. */
  #lists = new Map();

  static {
    listenersOf = (target, type) => Array.from(target.#lists.get(type) ?? [], ({ listener }) => listener);
  }

  static #from(value) {
    if (value === null || typeof value !== "object" || !(#lists in value)) throw invalidThis("EventTarget");
    return value;
  }

  addEventListener(type, listener, options = undefined) {
    const target = EventTarget.#from(this);
    if (arguments.length < 2) throw missingArgs("type", "listener");
    const { signal, ...flags } = readOptions(options);
    if (!isListener(listener) || signal?.aborted) return;
    const name = readType(type);
    if (!target.#listOf(name).add(listener, flags)) return;
    const remove = () => target.removeEventListener(name, listener, flags);
    signal?.addEventListener("abort", remove, { once: true });
  }

  #listOf(name) {
    let list = this.#lists.get(name);
    if (list === undefined) this.#lists.set(name, (list = new ListenerList()));
    return list;
  }

  removeEventListener(type, listener, options = undefined) {
    const target = EventTarget.#from(this);
    if (arguments.length < 2) throw missingArgs("type", "listener");
    if (!isListener(listener)) return;
    target.#remove(readType(type), listener, isCapture(options));
  }

  #remove(name, listener, capture) {
    const list = this.#lists.get(name);
    list?.remove(listener, capture);
    if (list?.isEmpty) this.#lists.delete(name);
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
    let entry = this.#lists.get(event.type)?.first;
    while (entry !== undefined && !dispatching.isStopped(event)) {
      const { next, listener, capture, once, passive, isRemoved } = entry;
      if (!isRemoved) {
        if (once) this.#remove(event.type, listener, capture);
        dispatching.enterListener(event, passive);
        callListener(listener, event);
      }
      entry = next;
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
