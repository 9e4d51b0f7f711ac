// `PerformanceObserver`: receives new entries of the timeline.

import { checkFunction, checkObject, invalidArgType, missingArgs, withCode } from "./errors.js";
import { asInterface } from "./interface.js";
import { illegalConstructor } from "./node_error.js";
import { Immediate } from "./timer_objects.js";

const TYPES = Object.freeze(["mark", "measure"]);
const KEY = Symbol("key");

/** Observers that wait for entries. */
const observers = new Set();

/** Passes an entry to the observers. */
export let announce;

export const byTime = (entries) => entries.sort((a, b) => a.startTime - b.startTime);

export class PerformanceObserverEntryList {
  #entries;

  constructor(key = undefined, entries = []) {
    if (key !== KEY) throw illegalConstructor();
    this.#entries = byTime(entries);
  }

  getEntries() {
    return this.#entries.slice();
  }

  getEntriesByType(type) {
    if (arguments.length === 0) throw missingArgs("type");
    return this.#entries.filter((entry) => entry.entryType === `${type}`);
  }

  getEntriesByName(name, type = undefined) {
    if (arguments.length === 0) throw missingArgs("name");
    const isAsked = (entry) => entry.name === `${name}` && (type === undefined || entry.entryType === type);
    return this.#entries.filter(isAsked);
  }
}

asInterface(PerformanceObserverEntryList);

export class PerformanceObserver {
  #callback;
  #types = new Set();
  #waiting = [];
  #isScheduled = false;

  constructor(callback) {
    checkFunction(callback, "callback");
    this.#callback = callback;
  }

  static {
    announce = (entry) => {
      for (const observer of observers) {
        if (observer.#types.has(entry.entryType)) observer.#add(entry);
      }
    };
  }

  static get supportedEntryTypes() {
    return TYPES;
  }

  observe(options = {}) {
    checkObject(options, "options");
    const { entryTypes, type } = options;
    if (entryTypes === undefined && type === undefined)
      throw missingArgs("options.entryTypes", "options.type");
    if (entryTypes !== undefined && type !== undefined) {
      const message = "options.entryTypes can not set with options.type together";
      throw withCode(new TypeError(`The argument 'options.entryTypes' ${message}`), "ERR_INVALID_ARG_VALUE");
    }
    if (entryTypes !== undefined && !Array.isArray(entryTypes)) {
      throw invalidArgType("options.entryTypes", "string[]", entryTypes);
    }
    if (type === undefined) this.#types.clear();
    for (const name of entryTypes ?? [type]) if (TYPES.includes(name)) this.#types.add(name);
    if (this.#types.size > 0) observers.add(this);
    else observers.delete(this);
  }

  disconnect() {
    this.#types.clear();
    this.#waiting = [];
    observers.delete(this);
  }

  takeRecords() {
    const entries = this.#waiting;
    this.#waiting = [];
    return entries;
  }

  #add(entry) {
    this.#waiting.push(entry);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    new Immediate(() => this.#deliver(), [], true);
  }

  #deliver() {
    this.#isScheduled = false;
    const entries = this.takeRecords();
    if (entries.length > 0) this.#callback(new PerformanceObserverEntryList(KEY, entries), this);
  }
}

asInterface(PerformanceObserver);
