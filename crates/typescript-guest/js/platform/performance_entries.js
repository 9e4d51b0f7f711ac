// The entries of a timeline: marks and measures.

import native from "codeyard:native";
import { checkNumber, checkObject, missingArgs, withCode } from "./errors.js";
import { asInterface } from "./interface.js";
import { illegalConstructor } from "./node_error.js";
import { structuredClone } from "./structured_clone.js";
import { showFields } from "./web_inspect.js";

const { now } = native;

/** Only the platform makes entries that are no marks: it passes this value to constructors. */
const KEY = Symbol("key");

export class PerformanceEntry {
  #name;
  #entryType;
  #startTime;
  #duration;

  constructor(key = undefined, name = "", entryType = "", startTime = 0, duration = 0) {
    if (key !== KEY) throw illegalConstructor();
    this.#name = name;
    this.#entryType = entryType;
    this.#startTime = startTime;
    this.#duration = duration;
  }

  get name() {
    return this.#name;
  }

  get entryType() {
    return this.#entryType;
  }

  get startTime() {
    return this.#startTime;
  }

  get duration() {
    return this.#duration;
  }

  toJSON() {
    const { name, entryType, startTime, duration } = this;
    return { name, entryType, startTime, duration };
  }
}

asInterface(PerformanceEntry);
showFields(PerformanceEntry, (entry) => entry.toJSON());

const withDetail = (entry) => {
  const { name, entryType, startTime, duration, detail } = entry;
  return { name, entryType, startTime, duration, detail };
};

export class PerformanceMark extends PerformanceEntry {
  #detail;

  constructor(name, options = {}) {
    if (arguments.length === 0) throw missingArgs("name");
    if (options !== undefined && options !== null) checkObject(options, "options");
    const { startTime = now(), detail = null } = options ?? {};
    checkNumber(startTime, "startTime");
    if (startTime < 0) {
      throw withCode(
        new TypeError(`${startTime} is not a valid timestamp`),
        "ERR_PERFORMANCE_INVALID_TIMESTAMP",
      );
    }
    super(KEY, `${name}`, "mark", startTime, 0);
    this.#detail = detail === null ? null : structuredClone(detail);
  }

  get detail() {
    return this.#detail;
  }

  toJSON() {
    return withDetail(this);
  }
}

asInterface(PerformanceMark);

export class PerformanceMeasure extends PerformanceEntry {
  #detail;

  constructor(key = undefined, name = "", startTime = 0, duration = 0, detail = null) {
    super(key, name, "measure", startTime, duration);
    this.#detail = detail;
  }

  get detail() {
    return this.#detail;
  }

  toJSON() {
    return withDetail(this);
  }
}

asInterface(PerformanceMeasure);

export function makeMeasure(name, startTime, duration, detail) {
  return new PerformanceMeasure(KEY, name, startTime, duration, detail);
}
