// `console`: prints values for people, to standard output and standard error.

import native from "codeyard:native";
import { checkArray, checkInteger, checkObject, checkOneOf, withCode } from "./errors.js";
import { makeTable } from "./console_table.js";
import { framesOutside } from "./error_stack.js";
import { formatAll } from "./format.js";
import { inspect } from "./inspect.js";
import {
  append,
  arrayJoin,
  mapDelete,
  mapGet,
  mapHas,
  mapSet,
  numberToFixed,
  stringPadStart,
  stringRepeat,
  stringReplaceAll,
  stringSlice,
} from "./primordials.js";
import { emitWarning } from "./warnings.js";

const { apply } = Reflect;
const { defineProperty, keys } = Object;
const { floor } = Math;
const { now, write } = native;
const bind = Function.prototype.call.bind(Function.prototype.bind);
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const WIDEST_INDENTATION = 1000;

/** Formats a time: `1.5ms`, `2.004s`, `1:02.003 (m:ss.mmm)`. */
function formatTime(milliseconds) {
  if (milliseconds < SECOND) return `${Number(numberToFixed(milliseconds, 3))}ms`;
  if (milliseconds < MINUTE) return `${numberToFixed(milliseconds / SECOND, 3)}s`;
  const hours = floor(milliseconds / HOUR);
  const minutes = floor((milliseconds % HOUR) / MINUTE);
  const seconds = stringPadStart(numberToFixed((milliseconds % MINUTE) / SECOND, 3), 6, "0");
  if (hours === 0) return `${minutes}:${seconds} (m:ss.mmm)`;
  return `${hours}:${stringPadStart(`${minutes}`, 2, "0")}:${seconds} (h:mm:ss.mmm)`;
}

/** A stream of the session; programs may replace the `write` of `process.stdout` to catch what is printed. */
function sessionStream(name, number) {
  return {
    write(text) {
      const stream = globalThis.process?.[name];
      if (typeof stream?.write === "function") stream.write(text);
      else write(number, text);
    },
  };
}

function checkStream(stream, name) {
  if (typeof stream?.write === "function") return;
  const error = new TypeError(`Console expects a writable stream instance for ${name}`);
  throw withCode(error, "ERR_CONSOLE_WRITABLE_STREAM");
}

/** Accepts the options, or the streams and `ignoreErrors` in their old order. */
function readOptions(options, stderr, ignoreErrors) {
  if (options && typeof options.write !== "function") return options;
  return { stdout: options, stderr, ignoreErrors };
}

function checkOptions(options) {
  const { stdout, stderr = stdout, colorMode = "auto", inspectOptions, groupIndentation } = options;
  checkStream(stdout, "stdout");
  checkStream(stderr, "stderr");
  checkOneOf(colorMode, "colorMode", ["auto", true, false]);
  if (groupIndentation !== undefined) {
    checkInteger(groupIndentation, "groupIndentation", 0, WIDEST_INDENTATION);
  }
  if (inspectOptions === undefined) return;
  checkObject(inspectOptions, "options.inspectOptions");
  if (inspectOptions.colors !== undefined && options.colorMode !== undefined) {
    const message =
      'Option "options.inspectOptions.color" cannot be used in combination with option "colorMode"';
    throw withCode(new TypeError(message), "ERR_INCOMPATIBLE_OPTION_PAIR");
  }
}

export class Console {
  #stdout;
  #stderr;
  #ignoresErrors;
  #inspectOptions;
  #indentation = "";
  #indentationStep;
  #counts = new Map();
  #times = new Map();

  constructor(...inputs) {
    const options = readOptions(...inputs);
    checkOptions(options);
    this.#stdout = options.stdout;
    this.#stderr = options.stderr ?? options.stdout;
    this.#ignoresErrors = options.ignoreErrors ?? true;
    this.#indentationStep = options.groupIndentation ?? 2;
    this.#inspectOptions = { colors: options.colorMode === true, ...options.inspectOptions };
    // A method also works alone, as in `list.forEach(console.log)`.
    for (const name of keys(Console.prototype)) {
      this[name] = bind(this[name], this);
      defineProperty(this[name], "name", { value: name });
    }
    defineProperty(this, Symbol.toStringTag, { value: "console", configurable: true });
  }

  #write(stream, text) {
    const lines = this.#indentation === "" ? text : stringReplaceAll(text, "\n", `\n${this.#indentation}`);
    try {
      stream.write(`${this.#indentation}${lines}\n`);
    } catch (error) {
      if (!this.#ignoresErrors) throw error;
    }
  }

  #elapsed(method, label, data) {
    const start = mapGet(this.#times, label);
    if (start === undefined) {
      emitWarning(`No such label '${label}' for console.${method}()`);
      return;
    }
    this.log("%s: %s", label, formatTime(now() - start), ...data);
  }

  log(...values) {
    this.#write(this.#stdout, formatAll(this.#inspectOptions, values));
  }

  warn(...values) {
    this.#write(this.#stderr, formatAll(this.#inspectOptions, values));
  }

  dir(value, options) {
    this.#write(this.#stdout, inspect(value, { customInspect: false, ...this.#inspectOptions, ...options }));
  }

  trace(...values) {
    const message = formatAll(this.#inspectOptions, values);
    const lines = [message === "" ? "Trace" : `Trace: ${message}`];
    const frames = framesOutside(Console.prototype.trace);
    for (let index = 0; index < frames.length; index++) append(lines, frames[index]);
    this.error(arrayJoin(lines, "\n"));
  }

  assert(condition, ...values) {
    if (condition) return;
    values[0] = `Assertion failed${values.length === 0 ? "" : `: ${values[0]}`}`;
    apply(this.warn, this, values);
  }

  /** There is no screen to clear. */
  clear() {}

  count(label = "default") {
    const name = `${label}`;
    const count = (mapGet(this.#counts, name) ?? 0) + 1;
    mapSet(this.#counts, name, count);
    this.log(`${name}: ${count}`);
  }

  countReset(label = "default") {
    if (!mapHas(this.#counts, `${label}`)) emitWarning(`Count for '${label}' does not exist`);
    else mapDelete(this.#counts, `${label}`);
  }

  group(...values) {
    if (values.length > 0) apply(this.log, this, values);
    this.#indentation += stringRepeat(" ", this.#indentationStep);
  }

  groupEnd() {
    this.#indentation = stringSlice(this.#indentation, this.#indentationStep);
  }

  table(data, properties) {
    if (properties !== undefined) checkArray(properties, "properties");
    if (data === null || typeof data !== "object") this.log(data);
    else this.log(makeTable(data, properties, this.#inspectOptions));
  }

  time(label = "default") {
    const name = `${label}`;
    if (mapHas(this.#times, name)) emitWarning(`Label '${name}' already exists for console.time()`);
    else mapSet(this.#times, name, now());
  }

  timeEnd(label = "default") {
    this.#elapsed("timeEnd", `${label}`, []);
    mapDelete(this.#times, `${label}`);
  }

  timeLog(label = "default", ...data) {
    this.#elapsed("timeLog", `${label}`, data);
  }

  /** Marks of profilers, which are not recorded. */
  profile() {}
  profileEnd() {}
  timeStamp() {}
}

const { prototype } = Console;
for (const name of Reflect.ownKeys(prototype)) {
  if (name !== "constructor") defineProperty(prototype, name, { enumerable: true });
}
prototype.debug = prototype.log;
prototype.info = prototype.log;
prototype.dirxml = prototype.log;
prototype.error = prototype.warn;
prototype.groupCollapsed = prototype.group;

export const console = new Console({
  stdout: sessionStream("stdout", 1),
  stderr: sessionStream("stderr", 2),
});
defineProperty(console, "Console", { value: Console, writable: true, configurable: true, enumerable: true });

export default console;
