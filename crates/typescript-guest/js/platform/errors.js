// Makes errors with the classes, codes and messages of Node, and checks arguments as Node does.

import { setStack } from "./error_stack.js";
import { inspect } from "./inspect.js";
import { stringIncludes } from "./primordials.js";

const { defineProperty } = Object;
const { isArray } = Array;
const { stringify } = JSON;
const { apply } = Reflect;
const { filter, includes, join, map, slice } = Array.prototype;
const { endsWith, slice: cut, startsWith, toLowerCase } = String.prototype;

const LONGEST_STRING = 28;
const LONGEST_VALUE = 128;
const FIRST_SEPARATED = 2 ** 32;
const CLASS_NAME = /^(?:[A-Z][a-z0-9]*)+$/;
const TYPES = ["string", "function", "number", "object", "Function", "Object", "boolean", "bigint", "symbol"];

/** Gives an error its code, which Node also shows in the first line of the stack and in `String(error)`. */
export function withCode(error, code) {
  error.code = code;
  const toString = {
    toString() {
      return `${this.name} [${code}]: ${this.message}`;
    },
  }.toString;
  defineProperty(error, "toString", { value: toString, writable: true, configurable: true });
  setStack(error, `${error.name} [${code}]: ${error.message}`);
  return error;
}

/** Joins words as English does: "a", "a or b", "a, b, or c". */
function joinWords(words, word) {
  if (words.length < 3) return apply(join, words, [` ${word} `]);
  return `${apply(join, apply(slice, words, [0, -1]), [", "])}, ${word} ${words[words.length - 1]}`;
}

/** A dot in its name makes an argument a property of one. */
function kindOf(name) {
  return stringIncludes(name, ".") ? "property" : "argument";
}

function describeString(text) {
  const shown = text.length > LONGEST_STRING ? `${apply(cut, text, [0, LONGEST_STRING - 3])}...` : text;
  return stringIncludes(shown, "'") ? stringify(shown) : `'${shown}'`;
}

/** Describes the received value: `type number (1)`, `an instance of Map`, `undefined`. */
export function describeReceived(value) {
  if (value === null || value === undefined) return `${value}`;
  switch (typeof value) {
    case "function":
      return `function ${value.name}`;
    case "object":
      if (value.constructor && "name" in value.constructor) return `an instance of ${value.constructor.name}`;
      return inspect(value, { depth: -1 });
    case "string":
      return `type string (${describeString(value)})`;
    default:
      return `type ${typeof value} (${inspect(value)})`;
  }
}

/** Describes the expected value: `of type string or an instance of URL`. */
function describeExpected(expected) {
  const isType = (word) => apply(includes, TYPES, [word]);
  const isInstance = (word) => !isType(word) && CLASS_NAME.test(word);
  let types = apply(map, apply(filter, expected, [isType]), [(word) => apply(toLowerCase, word, [])]);
  const instances = apply(filter, expected, [isInstance]);
  const others = apply(filter, expected, [(word) => !isType(word) && !isInstance(word)]);
  if (instances.length > 0 && apply(includes, types, ["object"])) {
    types = apply(filter, types, [(word) => word !== "object"]);
    instances[instances.length] = "Object";
  }
  const groups = [];
  const add = (text) => (groups[groups.length] = text);
  if (types.length > 0) add(`${types.length > 1 ? "one of type" : "of type"} ${joinWords(types, "or")}`);
  if (instances.length > 0) add(`an instance of ${joinWords(instances, "or")}`);
  if (others.length > 1) add(`one of ${joinWords(others, "or")}`);
  else if (others.length === 1)
    add(apply(toLowerCase, others[0], []) === others[0] ? others[0] : `an ${others[0]}`);
  return apply(join, groups, [" or "]);
}

/** @param {string | string[]} expected names of types and of classes */
export function invalidArgType(name, expected, value) {
  const subject = apply(endsWith, name, [" argument"]) ? name : `"${name}" ${kindOf(name)}`;
  const right = describeExpected(isArray(expected) ? expected : [expected]);
  const message = `The ${subject} must be ${right}. Received ${describeReceived(value)}`;
  return withCode(new TypeError(message), "ERR_INVALID_ARG_TYPE");
}

export function invalidArgValue(name, value, reason = "is invalid", ErrorClass = TypeError) {
  const whole = inspect(value);
  const shown = whole.length > LONGEST_VALUE ? `${apply(cut, whole, [0, LONGEST_VALUE])}...` : whole;
  const message = `The ${kindOf(name)} '${name}' ${reason}. Received ${shown}`;
  return withCode(new ErrorClass(message), "ERR_INVALID_ARG_VALUE");
}

/** Groups the digits of a large integer: `10_000_000_000`. */
function separate(digits) {
  const first = apply(startsWith, digits, ["-"]) ? 1 : 0;
  let groups = "";
  let end = digits.length;
  for (; end >= first + 4; end -= 3) groups = `_${apply(cut, digits, [end - 3, end])}${groups}`;
  return apply(cut, digits, [0, end]) + groups;
}

function describeNumber(value) {
  // The engine compares some bigints with numbers wrongly, so both are of one kind.
  const limit = typeof value === "bigint" ? BigInt(FIRST_SEPARATED) : FIRST_SEPARATED;
  const isLarge = value > limit || value < -limit;
  if (typeof value === "bigint") return `${isLarge ? separate(`${value}`) : value}n`;
  return Number.isInteger(value) && isLarge ? separate(`${value}`) : inspect(value);
}

/** @param {string} range what completes "It must be" */
export function outOfRange(name, range, value) {
  const received = describeNumber(value);
  const message = `The value of "${name}" is out of range. It must be ${range}. Received ${received}`;
  return withCode(new RangeError(message), "ERR_OUT_OF_RANGE");
}

export function missingArgs(...names) {
  const quoted = apply(map, names, [(name) => `"${name}"`]);
  const message = `The ${joinWords(quoted, "and")} argument${names.length > 1 ? "s" : ""} must be specified`;
  return withCode(new TypeError(message), "ERR_MISSING_ARGS");
}

export function invalidReturnValue(expected, name, value) {
  const received = describeReceived(value);
  const message = `Expected ${expected} to be returned from the "${name}" function but got ${received}.`;
  return withCode(new TypeError(message), "ERR_INVALID_RETURN_VALUE");
}

export function checkString(value, name) {
  if (typeof value !== "string") throw invalidArgType(name, "string", value);
}

export function checkFunction(value, name) {
  if (typeof value !== "function") throw invalidArgType(name, "Function", value);
}

export function checkBoolean(value, name) {
  if (typeof value !== "boolean") throw invalidArgType(name, "boolean", value);
}

export function checkArray(value, name) {
  if (!isArray(value)) throw invalidArgType(name, "Array", value);
}

export function checkObject(value, name, allowsArrays = false) {
  const isRight = typeof value === "object" && value !== null && (allowsArrays || !isArray(value));
  if (!isRight) throw invalidArgType(name, "Object", value);
}

export function checkNumber(value, name, least) {
  if (typeof value !== "number") throw invalidArgType(name, "number", value);
  if ((least !== undefined && value < least) || Number.isNaN(value)) {
    throw outOfRange(name, least === undefined ? "" : `>= ${least}`, value);
  }
}

export function checkInteger(value, name, least = Number.MIN_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER) {
  if (typeof value !== "number") throw invalidArgType(name, "number", value);
  if (!Number.isInteger(value)) throw outOfRange(name, "an integer", value);
  if (value < least || value > most) throw outOfRange(name, `>= ${least} && <= ${most}`, value);
}

export function checkOneOf(value, name, allowed) {
  if (apply(includes, allowed, [value])) return;
  const words = apply(map, allowed, [(item) => (typeof item === "string" ? `'${item}'` : `${item}`)]);
  throw invalidArgValue(name, value, `must be one of: ${apply(join, words, [", "])}`);
}

/** Accepts `undefined` and objects like an AbortSignal. */
export function checkAbortSignal(value, name) {
  if (value === undefined) return;
  if (value === null || typeof value !== "object" || !("aborted" in value)) {
    throw invalidArgType(name, "AbortSignal", value);
  }
}

export function checkPresent(given, ...names) {
  if (given < names.length) throw missingArgs(...names);
}

/** The error of an operation whose signal aborts. */
export class AbortError extends Error {
  constructor(message = "The operation was aborted", options = undefined) {
    super(message, options);
    this.code = "ABORT_ERR";
    this.name = "AbortError";
  }
}
