// `node:util`.

import { isDeepStrictEqual } from "./deep_equal.js";
import { TextDecoder, TextEncoder } from "./encoding.js";
import { checkBoolean, checkOneOf, checkString, invalidArgType } from "./errors.js";
import { format, formatWithOptions } from "./format.js";
import { inspect } from "./inspect.js";
import { objectToString } from "./primordials.js";
import { callbackify, promisify } from "./promisify.js";
import { stripVTControlCharacters } from "./string_width.js";
import types from "./types.js";
import { emitWarning } from "./warnings.js";

const { isArray } = Array;
const { defineProperty, keys, setPrototypeOf } = Object;
const { apply, construct } = Reflect;

/** Lets objects of one constructor inherit the methods of another. */
export function inherits(constructor, parent) {
  if (constructor === undefined || constructor === null)
    throw invalidArgType("ctor", "Function", constructor);
  if (parent === undefined || parent === null) throw invalidArgType("superCtor", "Function", parent);
  if (parent.prototype === undefined) throw invalidArgType("superCtor.prototype", "Object", parent.prototype);
  defineProperty(constructor, "super_", { value: parent, writable: true, configurable: true });
  setPrototypeOf(constructor.prototype, parent.prototype);
}

/** Codes of deprecations that were announced. */
const announced = new Set();

/** Wraps a function so that its first call warns. */
export function deprecate(original, message, code) {
  if (code !== undefined) checkString(code, "code");
  let isAnnounced = false;
  function deprecated(...inputs) {
    if (!isAnnounced) {
      isAnnounced = true;
      if (!announced.has(code)) emitWarning(message, "DeprecationWarning", code);
      if (code !== undefined) announced.add(code);
    }
    return new.target ? construct(original, inputs, new.target) : apply(original, this, inputs);
  }
  setPrototypeOf(deprecated, original);
  if (original.prototype) deprecated.prototype = original.prototype;
  return deprecated;
}

/** A log for developers of a library; always off here. */
export function debuglog() {
  return Object.assign(() => {}, { enabled: false });
}

export function toUSVString(input) {
  return `${input}`.toWellFormed();
}

const escapeStyle = (code) => `\u001b[${code}m`;

function styleOf(name) {
  const style = inspect.colors[name];
  if (style === undefined) checkOneOf(name, "format", keys(inspect.colors));
  return style;
}

function isStream(stream) {
  return typeof stream === "object" && stream !== null && typeof stream.write === "function";
}

/** Styles a text. No stream is a terminal, so a single style shows only where streams are not asked. */
export function styleText(style, text, { validateStream = true, stream } = {}) {
  checkString(text, "text");
  checkBoolean(validateStream, "options.validateStream");
  if (validateStream && stream !== undefined && !isStream(stream)) {
    throw invalidArgType("stream", ["ReadableStream", "WritableStream", "Stream"], stream);
  }
  const styles = (isArray(style) ? style : [style]).map(styleOf);
  if (validateStream && !isArray(style)) return text;
  const start = styles.map(([code]) => escapeStyle(code)).join("");
  const end = styles
    .map(([, code]) => escapeStyle(code))
    .reverse()
    .join("");
  return start + text + end;
}

/** Copies the properties of an object; kept for old programs. */
function extend(target, source) {
  return source === null || typeof source !== "object" ? target : Object.assign(target, source);
}

/** Tests of types that old programs use. */
const oldTests = {
  isArray,
  isBoolean: (value) => typeof value === "boolean",
  isBuffer: (value) => Boolean(globalThis.Buffer?.isBuffer(value)),
  isDate: types.isDate,
  isError: (value) => objectToString(value) === "[object Error]" || value instanceof Error,
  isFunction: (value) => typeof value === "function",
  isNull: (value) => value === null,
  isNullOrUndefined: (value) => value === null || value === undefined,
  isNumber: (value) => typeof value === "number",
  isObject: (value) => value !== null && typeof value === "object",
  isPrimitive: (value) => value === null || (typeof value !== "object" && typeof value !== "function"),
  isRegExp: types.isRegExp,
  isString: (value) => typeof value === "string",
  isSymbol: (value) => typeof value === "symbol",
  isUndefined: (value) => value === undefined,
};

export {
  callbackify,
  format,
  formatWithOptions,
  inspect,
  isArray,
  isDeepStrictEqual,
  promisify,
  stripVTControlCharacters,
  TextDecoder,
  TextEncoder,
  types,
};

export default {
  _extend: extend,
  callbackify,
  debug: debuglog,
  debuglog,
  deprecate,
  format,
  styleText,
  formatWithOptions,
  inherits,
  inspect,
  ...oldTests,
  isDeepStrictEqual,
  promisify,
  stripVTControlCharacters,
  toUSVString,
  types,
  TextDecoder,
  TextEncoder,
};
