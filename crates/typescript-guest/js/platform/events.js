// `node:events`: EventEmitter.

import { checkBoolean, checkFunction, checkNumber, invalidArgType, withCode } from "./errors.js";
import { EventTarget, listenersOf as listenersOfTarget } from "./event_target.js";
import { addAbortListener, on, once } from "./events_async.js";
import { inspect } from "./inspect.js";
import { emitWarning } from "./warnings.js";
import { later } from "./later.js";

const { apply, ownKeys } = Reflect;
const { create, defineProperty, getPrototypeOf } = Object;
const { isArray } = Array;

const captures = Symbol("kCapture");
const shapeMode = Symbol("shapeMode");
const errorMonitor = Symbol("events.errorMonitor");
const captureRejectionSymbol = Symbol.for("nodejs.rejection");
let defaultMaxListeners = 10;

/** Also called without `new` by the constructors of old classes, on their own objects. */
export function EventEmitter(options) {
  EventEmitter.init.call(this, options);
}

/**
 * Prepares an emitter. `_events` has for each event its listener, or an array of more than one;
 * `_eventsCount` is the number of events.
 */
EventEmitter.init = function (options) {
  const isNew = this._events === undefined || this._events === getPrototypeOf(this)._events;
  if (isNew) {
    this._events = create(null);
    this._eventsCount = 0;
  }
  this[shapeMode] = !isNew;
  this._maxListeners ||= undefined;
  if (options?.captureRejections) {
    checkBoolean(options.captureRejections, "options.captureRejections");
    this[captures] = Boolean(options.captureRejections);
  } else this[captures] = EventEmitter.prototype[captures];
};

const { prototype } = EventEmitter;
defineProperty(prototype, captures, { value: false, writable: true });
prototype._events = undefined;
prototype._eventsCount = 0;
prototype._maxListeners = undefined;

/** The listeners of an event as an array, each once-wrapper as it is. */
function listenersOf(emitter, type) {
  const listeners = emitter._events?.[type];
  if (listeners === undefined) return [];
  return isArray(listeners) ? copy(listeners) : [listeners];
}

function copy(list) {
  const result = [];
  for (let index = 0; index < list.length; index++) result[index] = list[index];
  return result;
}

function clear(emitter) {
  emitter._events = create(null);
  emitter._eventsCount = 0;
}

const isListener = (present, listener) => present === listener || present.listener === listener;

function limitOf(emitter) {
  return emitter._maxListeners === undefined ? EventEmitter.defaultMaxListeners : emitter._maxListeners;
}

/** Warns once for each event with so many listeners that some were probably forgotten. */
function warnOfMany(emitter, type, listeners) {
  const limit = limitOf(emitter);
  if (!(limit > 0 && listeners.length > limit) || listeners.warned) return;
  listeners.warned = true;
  const warning = new Error(
    `Possible EventEmitter memory leak detected. ${listeners.length} ${String(type)} listeners added to ` +
      `${inspect(emitter, { depth: -1 })}. MaxListeners is ${limit}. ` +
      "Use emitter.setMaxListeners() to increase limit",
  );
  emitWarning(
    Object.assign(warning, {
      name: "MaxListenersExceededWarning",
      emitter,
      type,
      count: listeners.length,
    }),
  );
}

function add(emitter, type, listener, isFirst) {
  checkFunction(listener, "listener");
  if (emitter._events === undefined) clear(emitter);
  else if (emitter._events.newListener !== undefined) {
    emitter.emit("newListener", type, listener.listener ?? listener);
  }
  const events = emitter._events;
  const present = events[type];
  if (present === undefined) {
    events[type] = listener;
    emitter._eventsCount += 1;
    return emitter;
  }
  if (!isArray(present)) events[type] = isFirst ? [listener, present] : [present, listener];
  else if (isFirst) present.unshift(listener);
  else present.push(listener);
  warnOfMany(emitter, type, events[type]);
  return emitter;
}

/** Wraps a listener so that it is removed before it is called for the first time. */
function wrapOnce(emitter, type, listener) {
  const state = { fired: false, wrapped: undefined };
  const wrapped = function (...inputs) {
    if (state.fired) return undefined;
    emitter.removeListener(type, wrapped);
    state.fired = true;
    return apply(listener, emitter, inputs);
  };
  wrapped.listener = listener;
  defineProperty(wrapped, "name", { value: "bound onceWrapper", configurable: true });
  return wrapped;
}

/** Passes a rejection of what a listener returned to the emitter. */
function handleRejection(emitter, error, type, inputs) {
  if (typeof emitter[captureRejectionSymbol] === "function") {
    emitter[captureRejectionSymbol](error, type, ...inputs);
    return;
  }
  const before = emitter[captures];
  try {
    emitter[captures] = false;
    emitter.emit("error", error);
  } finally {
    emitter[captures] = before;
  }
}

function captureRejection(emitter, result, type, inputs) {
  if (!emitter[captures] || result === undefined || result === null) return;
  try {
    const { then } = result;
    if (typeof then !== "function") return;
    then.call(result, undefined, (error) => later(() => handleRejection(emitter, error, type, inputs)));
  } catch (error) {
    emitter.emit("error", error);
  }
}

/** An error without a listener is thrown to the emitting code. */
function throwUnhandled(inputs) {
  const error = inputs.length > 0 ? inputs[0] : undefined;
  if (error instanceof Error) throw error;
  let text;
  try {
    text = inspect(error);
  } catch {
    text = error;
  }
  const unhandled = withCode(new Error(`Unhandled error. (${text})`), "ERR_UNHANDLED_ERROR");
  unhandled.context = error;
  throw unhandled;
}

/** Removes the listener at a place of an event's list. */
function removeAt(emitter, type, list, place) {
  list.splice(place, 1);
  if (list.length === 1) emitter._events[type] = list[0];
}

function removeOnly(emitter, type, listener) {
  const events = emitter._events;
  emitter._eventsCount -= 1;
  if (emitter[shapeMode]) events[type] = undefined;
  else if (emitter._eventsCount === 0) emitter._events = create(null);
  else {
    delete events[type];
    if (events.removeListener !== undefined) emitter.emit("removeListener", type, listener);
  }
}

function removeAllOf(emitter, type) {
  const listeners = listenersOf(emitter, type);
  for (let index = listeners.length - 1; index >= 0; index--) emitter.removeListener(type, listeners[index]);
}

/** Removes without events, because nothing listens for removals. */
function removeSilently(emitter, isEverything, type) {
  if (isEverything) clear(emitter);
  else if (emitter._events[type] !== undefined) {
    emitter._eventsCount -= 1;
    if (emitter._eventsCount === 0) emitter._events = create(null);
    else delete emitter._events[type];
  }
  emitter[shapeMode] = false;
}

const methods = {
  setMaxListeners(count) {
    checkNumber(count, "setMaxListeners", 0);
    this._maxListeners = count;
    return this;
  },

  getMaxListeners() {
    return limitOf(this);
  },

  emit(type, ...inputs) {
    const events = this._events;
    const isError = type === "error";
    if (isError && events?.[errorMonitor] !== undefined) this.emit(errorMonitor, ...inputs);
    if (isError && events?.error === undefined) throwUnhandled(inputs);
    const handler = events?.[type];
    if (handler === undefined) return false;
    if (!isArray(handler)) {
      captureRejection(this, apply(handler, this, inputs), type, inputs);
      return true;
    }
    const listeners = copy(handler);
    for (let index = 0; index < listeners.length; index++) {
      captureRejection(this, apply(listeners[index], this, inputs), type, inputs);
    }
    return true;
  },

  addListener(type, listener) {
    return add(this, type, listener, false);
  },

  prependListener(type, listener) {
    return add(this, type, listener, true);
  },

  once(type, listener) {
    checkFunction(listener, "listener");
    return this.on(type, wrapOnce(this, type, listener));
  },

  prependOnceListener(type, listener) {
    checkFunction(listener, "listener");
    return this.prependListener(type, wrapOnce(this, type, listener));
  },

  /** Removes the last entry of a listener that was added repeatedly. */
  removeListener(type, listener) {
    checkFunction(listener, "listener");
    const present = this._events?.[type];
    if (present === undefined) return this;
    if (!isArray(present)) {
      if (isListener(present, listener)) removeOnly(this, type, present.listener || listener);
      return this;
    }
    let place = present.length - 1;
    while (place >= 0 && !isListener(present[place], listener)) place -= 1;
    if (place < 0) return this;
    removeAt(this, type, present, place);
    if (this._events.removeListener !== undefined) this.emit("removeListener", type, listener);
    return this;
  },

  removeAllListeners(...types) {
    const events = this._events;
    if (events === undefined) return this;
    if (events.removeListener === undefined) removeSilently(this, types.length === 0, types[0]);
    else if (types.length > 0) removeAllOf(this, types[0]);
    else {
      for (const key of ownKeys(events)) {
        if (key !== "removeListener") this.removeAllListeners(key);
      }
      this.removeAllListeners("removeListener");
      clear(this);
      this[shapeMode] = false;
    }
    return this;
  },

  listeners(type) {
    return listenersOf(this, type).map((listener) => listener.listener || listener);
  },

  rawListeners(type) {
    return listenersOf(this, type);
  },

  listenerCount(type, listener) {
    const listeners = listenersOf(this, type);
    if (listener === undefined || listener === null) return listeners.length;
    return listeners.filter((present) => isListener(present, listener)).length;
  },

  eventNames() {
    return this._eventsCount > 0 ? ownKeys(this._events) : [];
  },
};

Object.assign(prototype, methods);
prototype.on = prototype.addListener;
prototype.off = prototype.removeListener;

/** The number of listeners of any emitter, even one that only looks like an EventEmitter. */
function listenerCount(emitter, type) {
  if (typeof emitter.listenerCount === "function") return emitter.listenerCount(type);
  return apply(methods.listenerCount, emitter, [type]);
}

function refuseEmitter(value, name = "emitter") {
  throw invalidArgType(name, ["EventEmitter", "EventTarget"], value);
}

export function getEventListeners(emitter, type) {
  if (typeof emitter.listeners === "function") return emitter.listeners(type);
  return emitter instanceof EventTarget ? listenersOfTarget(emitter, type) : refuseEmitter(emitter);
}

/** Limits set on event targets, which do not enforce them. */
const limitsOfTargets = new WeakMap();

export function getMaxListeners(emitter) {
  if (typeof emitter?.getMaxListeners === "function") return limitOf(emitter);
  if (!(emitter instanceof EventTarget)) refuseEmitter(emitter);
  return limitsOfTargets.get(emitter) ?? defaultMaxListeners;
}

/** Sets the limit of the given emitters; without any, the one of all others. */
export function setMaxListeners(count = defaultMaxListeners, ...emitters) {
  checkNumber(count, "setMaxListeners", 0);
  if (emitters.length === 0) defaultMaxListeners = count;
  for (const emitter of emitters) {
    if (emitter instanceof EventTarget) limitsOfTargets.set(emitter, count);
    else if (typeof emitter.setMaxListeners === "function") emitter.setMaxListeners(count);
    else refuseEmitter(emitter, "eventTargets");
  }
}

Object.assign(EventEmitter, {
  addAbortListener,
  once,
  on,
  getEventListeners,
  getMaxListeners,
  setMaxListeners,
  listenerCount,
  EventEmitter,
  usingDomains: false,
  captureRejectionSymbol,
  errorMonitor,
});
defineProperty(EventEmitter, "captureRejections", {
  get: () => prototype[captures],
  set(value) {
    checkBoolean(value, "EventEmitter.captureRejections");
    prototype[captures] = value;
  },
  enumerable: true,
});
defineProperty(EventEmitter, "defaultMaxListeners", {
  get: () => defaultMaxListeners,
  set(value) {
    checkNumber(value, "defaultMaxListeners", 0);
    defaultMaxListeners = value;
  },
  enumerable: true,
});

export { addAbortListener, captureRejectionSymbol, errorMonitor, listenerCount, on, once };
export default EventEmitter;
