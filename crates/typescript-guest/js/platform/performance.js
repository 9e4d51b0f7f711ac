// `performance`: the clock of a program, and its timeline of marks and measures.

import native from "codeyard:native";
import { DOMException } from "./dom_exception.js";
import { checkString, missingArgs, withCode } from "./errors.js";
import { EventTarget } from "./event_target.js";
import { asInterface } from "./interface.js";
import { illegalConstructor } from "./node_error.js";
import { PerformanceMark, makeMeasure } from "./performance_entries.js";
import { announce, byTime } from "./performance_observer.js";

const { now, timeOrigin } = native;
const KEY = Symbol("key");

let entries = [];
/** The time of the last mark of each name. */
const marks = new Map();

function record(entry) {
  entries.push(entry);
  announce(entry);
  return entry;
}

function remove(type, name) {
  entries = entries.filter(
    (entry) => entry.entryType !== type || (name !== undefined && entry.name !== `${name}`),
  );
}

/** The time that a mark, by its name, or a number stands for. */
function timeOf(mark) {
  if (typeof mark === "number") {
    if (mark >= 0) return mark;
    throw withCode(new TypeError(`${mark} is not a valid timestamp`), "ERR_PERFORMANCE_INVALID_TIMESTAMP");
  }
  const time = marks.get(`${mark}`);
  if (time !== undefined) return time;
  throw new DOMException(`The "${mark}" performance mark has not been set`, "SyntaxError");
}

function invalidMeasure(reason) {
  return withCode(new TypeError(reason), "ERR_PERFORMANCE_MEASURE_INVALID_OPTIONS");
}

/** Reads `(startMark, endMark)`, or an object with two of `start`, `end` and `duration`. */
function readSpan(startOrOptions, endMark) {
  if (typeof startOrOptions !== "object" || startOrOptions === null) {
    return { start: startOrOptions, end: endMark };
  }
  const { start, end, duration } = startOrOptions;
  if (endMark !== undefined) throw invalidMeasure("endMark must not be specified");
  if (start !== undefined && end !== undefined && duration !== undefined) {
    throw invalidMeasure("Must not have options.start, options.end, and options.duration specified");
  }
  return startOrOptions;
}

/** Start and end of a measure; by default the origin and now. */
function resolveSpan({ start, end, duration }) {
  const hasStart = start !== undefined && start !== null;
  if (duration === undefined) return [hasStart ? timeOf(start) : 0, end === undefined ? now() : timeOf(end)];
  if (hasStart) return [timeOf(start), timeOf(start) + timeOf(duration)];
  const last = end === undefined ? now() : timeOf(end);
  return [last - timeOf(duration), last];
}

export class Performance extends EventTarget {
  constructor(key = undefined) {
    if (key !== KEY) throw illegalConstructor();
    super();
  }

  now() {
    return now();
  }

  get timeOrigin() {
    return timeOrigin();
  }

  mark(name, options = {}) {
    if (arguments.length === 0) throw missingArgs("name");
    const mark = new PerformanceMark(name, options);
    marks.set(mark.name, mark.startTime);
    return record(mark);
  }

  measure(name, startOrOptions = undefined, endMark = undefined) {
    if (arguments.length === 0) throw missingArgs("name");
    checkString(name, "name");
    const [start, end] = resolveSpan(readSpan(startOrOptions, endMark));
    return record(makeMeasure(name, start, end - start, startOrOptions?.detail ?? null));
  }

  clearMarks(name = undefined) {
    if (name === undefined) marks.clear();
    else marks.delete(`${name}`);
    remove("mark", name);
  }

  clearMeasures(name = undefined) {
    remove("measure", name);
  }

  getEntries() {
    return byTime(entries.slice());
  }

  getEntriesByName(name, type = undefined) {
    if (arguments.length === 0) throw missingArgs("name");
    const isAsked = (entry) => entry.name === `${name}` && (type === undefined || entry.entryType === type);
    return byTime(entries.filter(isAsked));
  }

  getEntriesByType(type) {
    if (arguments.length === 0) throw missingArgs("type");
    return byTime(entries.filter((entry) => entry.entryType === `${type}`));
  }

  /** The loop is not measured: Node's values before its loop starts. */
  eventLoopUtilization() {
    return { idle: 0, active: 0, utilization: 0 };
  }

  toJSON() {
    return { timeOrigin: this.timeOrigin, eventLoopUtilization: this.eventLoopUtilization() };
  }
}

asInterface(Performance);

export const performance = new Performance(KEY);
