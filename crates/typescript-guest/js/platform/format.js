// `util.format`: fills placeholders of a text with printed values.

import native from "codeyard:native";
import { checkObject } from "./errors.js";
import { inspect } from "./inspect.js";
import { builtInClasses } from "./inspect_names.js";
import { defaults, plain } from "./inspect_options.js";
import { printBigInt, printNumber } from "./inspect_strings.js";
import { hasOwn, setHas, stringCharCodeAt, stringIndexOf, stringSlice } from "./primordials.js";

const { getOwnPropertyDescriptor, getPrototypeOf } = Object;
const { parseFloat, parseInt } = Number;
const { stringify } = JSON;
const { toPrimitive } = Symbol;
const { proxyTarget } = native;
const PERCENT = 37;

/** The object behind proxies; undefined where one was revoked. */
function behindProxies(value) {
  let inner = value;
  for (let proxy = proxyTarget(inner); proxy !== undefined; proxy = proxyTarget(inner)) {
    inner = proxy[0];
    if (!inner) return undefined;
  }
  return inner;
}

/** Whether an object has no conversion to a string beside those of the language's own classes. */
function hasBuiltInConversion(object) {
  const value = behindProxies(object);
  if (value === undefined) return true;
  const hasToString = typeof value.toString === "function";
  const hasToPrimitive = typeof value[toPrimitive] === "function";
  if (!hasToString && !hasToPrimitive) return true;
  if ((hasToString && hasOwn(value, "toString")) || (hasToPrimitive && hasOwn(value, toPrimitive)))
    return false;
  let holder = getPrototypeOf(value);
  while (!(hasToString && hasOwn(holder, "toString")) && !(hasToPrimitive && hasOwn(holder, toPrimitive))) {
    holder = getPrototypeOf(holder);
  }
  const constructor = getOwnPropertyDescriptor(holder, "constructor")?.value;
  return typeof constructor === "function" && setHas(builtInClasses, constructor.name);
}

function formatNumber(number, options) {
  return printNumber(plain, number, options?.numericSeparator ?? defaults.numericSeparator);
}

function formatBigInt(bigint, options) {
  return printBigInt(plain, bigint, options?.numericSeparator ?? defaults.numericSeparator);
}

function formatString(value, options) {
  if (typeof value === "number") return formatNumber(value, options);
  if (typeof value === "bigint") return formatBigInt(value, options);
  if (typeof value !== "object" || value === null || !hasBuiltInConversion(value)) return String(value);
  return inspect(value, { ...options, compact: 3, colors: false, depth: 0 });
}

/** A placeholder for numbers: bigints stay whole, symbols are no numbers. */
const numeric = (parse) => (value, options) => {
  if (typeof value === "bigint" && parse !== parseFloat) return formatBigInt(value, options);
  if (typeof value === "symbol") return "NaN";
  return formatNumber(parse(value), options);
};

/** The message with which this engine refuses to write an object that contains itself. */
const CIRCULAR = (() => {
  const circle = {};
  circle.self = circle;
  try {
    return stringify(circle);
  } catch (error) {
    return firstLine(error.message);
  }
})();

function firstLine(text) {
  const end = stringIndexOf(text, "\n");
  return end === -1 ? text : stringSlice(text, 0, end);
}

function formatJson(value) {
  try {
    return stringify(value);
  } catch (error) {
    if (error.name === "TypeError" && firstLine(error.message) === CIRCULAR) return "[Circular]";
    throw error;
  }
}

const PLACEHOLDERS = {
  __proto__: null,
  s: formatString,
  d: numeric(Number),
  i: numeric(parseInt),
  f: numeric(parseFloat),
  j: formatJson,
  o: (value, options) => inspect(value, { ...options, showHidden: true, showProxy: true, depth: 4 }),
  O: (value, options) => inspect(value, options),
  c: () => "",
};

/** Fills the placeholders; answers the text and how many values it took. */
function fill(text, values, options) {
  let result = "";
  let done = 0;
  let used = 0;
  for (
    let at = stringIndexOf(text, "%");
    at !== -1 && at < text.length - 1;
    at = stringIndexOf(text, "%", at)
  ) {
    const letter = text[at + 1];
    const placeholder = PLACEHOLDERS[letter];
    if (stringCharCodeAt(letter, 0) === PERCENT) {
      result += stringSlice(text, done, at + 1);
      done = at + 2;
    } else if (placeholder !== undefined && used < values.length) {
      result += stringSlice(text, done, at) + placeholder(values[used], options);
      used += 1;
      done = at + 2;
    }
    at += 2;
  }
  return { text: result + stringSlice(text, done), used };
}

/** Formats a list of values; texts stay as they are, all else is printed. */
export function formatAll(options, values) {
  const first = values[0];
  let text = "";
  let next = 0;
  if (typeof first === "string") {
    if (values.length === 1) return first;
    const rest = [];
    for (let index = 1; index < values.length; index++) rest[index - 1] = values[index];
    const filled = fill(first, rest, options);
    text = filled.text;
    next = filled.used + 1;
  }
  for (; next < values.length; next++) {
    const value = values[next];
    if (next > 0) text += " ";
    text += typeof value === "string" ? value : inspect(value, options);
  }
  return text;
}

export function format(...values) {
  return formatAll(undefined, values);
}

export function formatWithOptions(options, ...values) {
  checkObject(options, "inspectOptions", true);
  return formatAll(options, values);
}
