// Comparing, searching, filling and copying of a `Buffer`.

import native from "codeyard:native";
import { encodingOf, requireEncoding, textToBytes } from "./buffer_encodings.js";
import { isUint8Array } from "./bytes.js";
import {
  checkInteger,
  checkString,
  invalidArgType,
  invalidArgValue,
  outOfRange,
  withCode,
} from "./errors.js";

export const MAX_LENGTH = 2 ** 32;
const BYTES = ["Buffer", "Uint8Array"];

export function checkBytes(value, name) {
  if (!isUint8Array(value)) throw invalidArgType(name, BYTES, value);
}

/** An optional position: an integer from 0 to `most`. */
function position(value, name, otherwise, most = MAX_LENGTH) {
  if (value === undefined) return otherwise;
  checkInteger(value, name, 0, most);
  return value;
}

function equals(otherBuffer) {
  checkBytes(otherBuffer, "otherBuffer");
  return this.length === otherBuffer.length && native.compare(this, otherBuffer) === 0;
}

function compare(target, targetStart, targetEnd, sourceStart, sourceEnd) {
  checkBytes(target, "target");
  const from = position(targetStart, "targetStart", 0);
  const to = position(targetEnd, "targetEnd", target.length, target.length);
  const ownFrom = position(sourceStart, "sourceStart", 0);
  const ownTo = position(sourceEnd, "sourceEnd", this.length, this.length);
  if (ownFrom >= ownTo) return from >= to ? 0 : -1;
  if (from >= to) return 1;
  return native.compare(this.subarray(ownFrom, ownTo), target.subarray(from, to));
}

/** Where a search begins; -1 when nothing can be found, the answer itself when the needle is empty. */
function searchStart(length, offset, needleLength, last) {
  if (offset < 0) {
    if (offset + length >= 0) return offset + length;
    return last && needleLength > 0 ? -1 : 0;
  }
  if (offset + needleLength <= length) return offset;
  if (needleLength === 0) return length;
  return last ? length - 1 : -1;
}

/** Finds bytes; text of two bytes a unit is found only at whole units. */
function findBytes(bytes, needle, offset, last, encoding) {
  const isWide = encoding === "utf16le";
  const length = bytes.length - (isWide ? bytes.length % 2 : 0);
  let start = searchStart(length, offset, needle.length, last);
  if (start < 0 || needle.length === 0) return start;
  if (isWide) start -= start % 2;
  if (needle.length > bytes.length || (!last && start + needle.length > bytes.length)) return -1;
  while (start >= 0) {
    const found = native.indexOf(bytes, needle, start, last);
    if (found < 0 || !isWide || found % 2 === 0) return found;
    start = last ? found - 1 : found + 1;
  }
  return -1;
}

function find(bytes, value, byteOffset, encoding, last) {
  const isName = typeof byteOffset === "string";
  const name = isName ? byteOffset : encoding;
  const offset = isName ? NaN : Math.trunc(+byteOffset);
  const start = Number.isNaN(offset) ? (last ? bytes.length : 0) : offset;
  if (typeof value === "number") return findBytes(bytes, Uint8Array.of(value), start, last);
  if (isUint8Array(value)) {
    return findBytes(bytes, value, start, last, name === undefined ? undefined : encodingOf(name));
  }
  if (typeof value !== "string") throw invalidArgType("value", ["number", "string", ...BYTES], value);
  const known = name === undefined ? "utf8" : requireEncoding(name);
  return findBytes(bytes, textToBytes(value, known), start, last, known);
}

function indexOf(value, byteOffset, encoding) {
  return find(this, value, byteOffset, encoding, false);
}

function lastIndexOf(value, byteOffset, encoding) {
  return find(this, value, byteOffset, encoding, true);
}

function includes(value, byteOffset, encoding) {
  return find(this, value, byteOffset, encoding, false) !== -1;
}

/** Repeats a pattern by doubling the filled part. */
function fillPattern(bytes, pattern, start, end) {
  const length = end - start;
  const first = pattern.subarray(0, length);
  bytes.set(first, start);
  for (let done = first.length; done < length; done *= 2) {
    bytes.copyWithin(start + done, start, start + Math.min(done, length - done));
  }
}

/** Finds out which arguments of `fill` are positions and which one is an encoding. */
function fillArguments(value, offset, end, encoding) {
  if (typeof value !== "string") return [offset, end, undefined];
  if (offset === undefined || typeof offset === "string") return [undefined, undefined, offset];
  return typeof end === "string" ? [offset, undefined, end] : [offset, end, encoding];
}

export function fill(value, ...rest) {
  const [offset, end, name] = fillArguments(value, ...rest);
  let encoding = "utf8";
  if (name !== undefined) {
    checkString(name, "encoding");
    encoding = requireEncoding(name || "utf8");
  }
  const start = position(offset, "offset", 0);
  const stop = offset === undefined ? this.length : position(end, "end", this.length, this.length);
  if (start >= stop) return this;
  const isText = typeof value === "string" && value !== "";
  if (!isText && !isUint8Array(value)) return Reflect.apply(fillWith, this, [value & 255, start, stop]);
  const pattern = isText ? textToBytes(value, encoding) : value;
  if (pattern.length === 0) throw invalidArgValue("value", value);
  fillPattern(this, pattern, start, stop);
  return this;
}

const fillWith = Uint8Array.prototype.fill;

/** Reads a position leniently: cuts fractions; values other than numbers count as 0. */
function lenientInteger(value, otherwise) {
  if (value === undefined) return otherwise;
  const number = +value;
  return Number.isSafeInteger(Math.floor(number)) ? Math.floor(number) : 0;
}

function copy(target, targetStart, sourceStart, sourceEnd) {
  checkBytes(target, "target");
  const to = lenientInteger(targetStart, 0);
  if (to < 0) throw outOfRange("targetStart", ">= 0", to);
  const from = lenientInteger(sourceStart, 0);
  if (from < 0 || from > this.length) {
    throw outOfRange("sourceStart", `>= 0 && <= ${this.length}`, from);
  }
  const until = lenientInteger(sourceEnd, this.length);
  if (until < 0) throw outOfRange("sourceEnd", ">= 0", until);
  if (to >= target.length || from >= until) return 0;
  const count = Math.min(until - from, target.length - to, this.length - from);
  target.set(this.subarray(from, from + count), to);
  return count;
}

/** Makes a method that reverses the bytes of each group of `size`. */
function swapper(size) {
  return function swap() {
    if (this.length % size !== 0) {
      const message = `Buffer size must be a multiple of ${size * 8}-bits`;
      throw withCode(new RangeError(message), "ERR_INVALID_BUFFER_SIZE");
    }
    native.swap(this, size);
    return this;
  };
}

/** The methods that `Buffer.prototype` receives. */
export const searchMethods = {
  equals,
  compare,
  indexOf,
  lastIndexOf,
  includes,
  fill,
  copy,
  swap16: swapper(2),
  swap32: swapper(4),
  swap64: swapper(8),
};
