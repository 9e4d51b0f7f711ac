// Views of bytes: which values count as bytes, and joining of pieces.

import { invalidArgType, outOfRange } from "./errors.js";

const { isView } = ArrayBuffer;
const { getPrototypeOf, getOwnPropertyDescriptor } = Object;
const { apply } = Reflect;
const bufferLength = getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength").get;
const shared = globalThis.SharedArrayBuffer?.prototype ?? {};
const sharedLength = getOwnPropertyDescriptor(shared, "byteLength")?.get;
const typedTag = getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;

function hasLength(getter, value) {
  if (getter === undefined || value === null || typeof value !== "object") return false;
  try {
    apply(getter, value, []);
    return true;
  } catch {
    return false;
  }
}

/** Whether a value is an ArrayBuffer or a SharedArrayBuffer. */
export const isAnyBuffer = (value) => hasLength(bufferLength, value) || hasLength(sharedLength, value);

export const isArrayBuffer = (value) => hasLength(bufferLength, value);

/** The class of a typed array, also one of a subclass: `Uint8Array`; `undefined` for anything else. */
export const typedArrayKind = (value) => (isView(value) ? apply(typedTag, value, []) : undefined);

export const isUint8Array = (value) => typedArrayKind(value) === "Uint8Array";

/** The bytes behind a buffer or a view, without a copy; `undefined` for anything else. */
export function bytesOf(value) {
  if (isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return isAnyBuffer(value) ? new Uint8Array(value) : undefined;
}

/** Joins pieces of bytes into one array. */
export function joinBytes(pieces) {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const joined = new Uint8Array(length);
  let offset = 0;
  for (const piece of pieces) {
    joined.set(piece, offset);
    offset += piece.length;
  }
  return joined;
}

/** Checks a number of bytes; it may have a fraction, which does not count. */
export function checkLength(value, name, most) {
  if (typeof value !== "number") throw invalidArgType(name, "number", value);
  if (!(value >= 0 && value <= most)) throw outOfRange(name, `>= 0 && <= ${most}`, value);
}
