// `AbortController` and `AbortSignal`.

import { DOMException } from "./dom_exception.js";
import { checkInteger, invalidArgType } from "./errors.js";
import { Event, dispatching } from "./event.js";
import { EventTarget, defineHandler } from "./event_target.js";
import { asInterface } from "./interface.js";
import { illegalConstructor, invalidThis } from "./node_error.js";
import { Timeout } from "./timer_objects.js";
import { showFields } from "./web_inspect.js";

/** Only this file can make signals: it passes this value to the constructor. */
const KEY = Symbol("key");
const LONGEST_DELAY = 2 ** 32 - 1;

const makeSignal = () => new AbortSignal(KEY);

/** Aborts a signal, calls its listeners, then aborts those that follow it. */
let abort;
let checkThis;

export class AbortSignal extends EventTarget {
  #aborted = false;
  #reason = undefined;
  /** Signals that abort with this one; made by `any`. */
  #followers = new Set();
  /** Signals that `any` was given, as long as none of them is such a signal itself. */
  #sources = new Set();

  constructor(key = undefined) {
    if (key !== KEY) throw illegalConstructor();
    super();
  }

  static {
    checkThis = (value) => AbortSignal.#from(value);
    abort = (signal, reason) => {
      if (signal.#aborted) return;
      signal.#aborted = true;
      signal.#reason = reason;
      signal.dispatchEvent(dispatching.trust(new Event("abort")));
      for (const follower of signal.#followers) abort(follower, reason);
      signal.#followers.clear();
    };
  }

  static #from(value) {
    if (value === null || typeof value !== "object" || !(#aborted in value)) throw invalidThis("AbortSignal");
    return value;
  }

  get aborted() {
    return AbortSignal.#from(this).#aborted;
  }

  get reason() {
    return AbortSignal.#from(this).#reason;
  }

  throwIfAborted() {
    const signal = AbortSignal.#from(this);
    if (signal.#aborted) throw signal.#reason;
  }

  static abort(reason = new DOMException("This operation was aborted", "AbortError")) {
    const signal = makeSignal();
    abort(signal, reason);
    return signal;
  }

  static timeout(delay) {
    checkInteger(delay, "delay", 0, LONGEST_DELAY);
    const signal = makeSignal();
    const end = () =>
      abort(signal, new DOMException("The operation was aborted due to timeout", "TimeoutError"));
    new Timeout(end, delay, [], false, false);
    return signal;
  }

  static any(signals) {
    if (!Array.isArray(signals)) throw invalidArgType("signals", "Array", signals);
    for (const [index, signal] of signals.entries()) {
      if (signal === null || typeof signal !== "object" || !(#aborted in signal)) {
        throw invalidArgType(`signals[${index}]`, "AbortSignal", signal);
      }
    }
    const result = makeSignal();
    const aborted = signals.find((signal) => signal.#aborted);
    if (aborted !== undefined) abort(result, aborted.#reason);
    else for (const signal of signals) result.#follow(signal);
    return result;
  }

  #follow(signal) {
    const sources = signal.#sources.size > 0 ? signal.#sources : [signal];
    for (const source of sources) {
      this.#sources.add(source);
      source.#followers.add(this);
    }
  }
}

asInterface(AbortSignal);
showFields(AbortSignal, ({ aborted }) => ({ aborted }));
defineHandler(AbortSignal, "abort", checkThis);

export class AbortController {
  #signal = makeSignal();

  get signal() {
    return this.#signal;
  }

  abort(reason = new DOMException("This operation was aborted", "AbortError")) {
    abort(this.#signal, reason);
  }
}

asInterface(AbortController);
showFields(AbortController, ({ signal }) => ({ signal }));
