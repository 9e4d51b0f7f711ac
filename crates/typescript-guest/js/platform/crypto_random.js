// Random bytes, numbers and identifiers.

import native from "codeyard:native";
import { Buffer } from "./buffer_class.js";
import { bytesToText } from "./buffer_encodings.js";
import { bytesOf, checkLength } from "./bytes.js";
import { checkBoolean, checkFunction, checkObject, invalidArgType, outOfRange } from "./errors.js";

const MOST_BYTES = 2 ** 31 - 1;
const RANDOM_BYTES = 6;
const RANDOM_LIMIT = 2 ** 48;

const { queueMicrotask } = native;

/** Gives a result to a callback later, as Node does, or returns it. */
export function deliver(value, callback) {
  if (callback === undefined) return value;
  queueMicrotask(() => callback(null, value));
  return undefined;
}

export function randomBytes(size, callback) {
  checkLength(size, "size", MOST_BYTES);
  if (callback !== undefined) checkFunction(callback, "callback");
  const bytes = native.random(Math.trunc(size));
  return deliver(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), callback);
}

/** Fills a part of a buffer or a view; offset and size count its elements. */
function fillRandomly(buf, offset, size) {
  const bytes = bytesOf(buf);
  if (bytes === undefined) throw invalidArgType("buf", ["ArrayBuffer", "ArrayBufferView"], buf);
  const width = buf.BYTES_PER_ELEMENT ?? 1;
  const length = buf.length ?? bytes.length;
  const start = offset ?? 0;
  checkLength(start, "offset", length);
  const count = size ?? length - start;
  checkLength(count, "size", MOST_BYTES);
  if (start + count > length) throw outOfRange("size + offset", `<= ${length}`, start + count);
  bytes.set(native.random(count * width), start * width);
  return buf;
}

export function randomFillSync(buf, offset, size) {
  return fillRandomly(buf, offset, size);
}

export function randomFill(buf, offset, size, callback) {
  const last = [callback, size, offset].find((argument) => argument !== undefined);
  checkFunction(last, "callback");
  const [start, count] = [offset, size].map((argument) => (argument === last ? undefined : argument));
  deliver(fillRandomly(buf, start, count), last);
}

function checkSafeInteger(value, name) {
  if (!Number.isSafeInteger(value)) throw invalidArgType(name, "a safe integer", value);
}

/** A number from 0 up to `range`; numbers of an incomplete last round are drawn again. */
function randomBelow(range) {
  const limit = RANDOM_LIMIT - (RANDOM_LIMIT % range);
  for (;;) {
    const drawn = Buffer.from(native.random(RANDOM_BYTES)).readUIntBE(0, RANDOM_BYTES);
    if (drawn < limit) return drawn % range;
  }
}

export function randomInt(min, max, callback) {
  const hasLeast = max !== undefined && typeof max !== "function";
  const [least, most, report] = hasLeast ? [min, max, callback] : [0, min, max];
  if (report !== undefined) checkFunction(report, "callback");
  checkSafeInteger(least, "min");
  checkSafeInteger(most, "max");
  if (most <= least) throw outOfRange("max", `greater than the value of "min" (${least})`, most);
  const range = most - least;
  if (range >= RANDOM_LIMIT) throw outOfRange("max - min", `<= ${RANDOM_LIMIT - 1}`, range);
  return deliver(least + randomBelow(range), report);
}

/** An identifier of version 4 and variant 1. */
export function makeUuid() {
  const bytes = native.random(16);
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return bytesToText(bytes, "hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export function randomUUID(options) {
  if (options !== undefined) {
    checkObject(options, "options");
    const { disableEntropyCache } = options;
    if (disableEntropyCache !== undefined) checkBoolean(disableEntropyCache, "options.disableEntropyCache");
  }
  return makeUuid();
}
