// Numbers in a `Buffer`: integers of 1 to 6 bytes, 64-bit integers and floating point, in both byte orders.

import { invalidArgType, outOfRange, withCode } from "./errors.js";

const LARGEST_SIZE = 6;
const SPELLED_OUT = 4;

/** One place for eight bytes; the processor's own order is little endian. */
const scratch = new Uint8Array(8);
const views = {
  Float: new Float32Array(scratch.buffer, 0, 1),
  Double: new Float64Array(scratch.buffer),
  BigInt64: new BigInt64Array(scratch.buffer),
  BigUInt64: new BigUint64Array(scratch.buffer),
};

function boundsError(value, most, name) {
  if (typeof value !== "number") return invalidArgType(name, "number", value);
  if (Math.floor(value) !== value) return outOfRange(name, "an integer", value);
  if (most < 0) {
    return withCode(
      new RangeError("Attempt to access memory outside buffer bounds"),
      "ERR_BUFFER_OUT_OF_BOUNDS",
    );
  }
  return outOfRange(name, `>= ${name === "offset" ? 0 : 1} and <= ${most}`, value);
}

function checkBounds(bytes, offset, size) {
  if (typeof offset !== "number" || bytes[offset] === undefined || bytes[offset + size - 1] === undefined) {
    throw boundsError(offset, bytes.length - size, "offset");
  }
}

function checkSize(size) {
  if (Number.isInteger(size) && size >= 1 && size <= LARGEST_SIZE) return;
  throw boundsError(size, LARGEST_SIZE, "byteLength");
}

/** Says which values an integer may have: small limits in digits, large ones as powers of two. */
function describeRange(size, isSigned, suffix) {
  const bits = size * 8;
  if (size > SPELLED_OUT) {
    const power = `2${suffix} ** ${isSigned ? bits - 1 : bits}${suffix}`;
    return isSigned ? `>= -(${power}) and < ${power}` : `>= 0${suffix} and < ${power}`;
  }
  return isSigned ? `>= -${2 ** (bits - 1)} and <= ${2 ** (bits - 1) - 1}` : `>= 0 and <= ${2 ** bits - 1}`;
}

function readInteger(bytes, offset, size, { isLittle, isSigned }) {
  checkBounds(bytes, offset, size);
  let value = 0;
  if (isLittle) for (let index = size - 1; index >= 0; index--) value = value * 256 + bytes[offset + index];
  else for (let index = 0; index < size; index++) value = value * 256 + bytes[offset + index];
  return isSigned && value >= 2 ** (size * 8 - 1) ? value - 2 ** (size * 8) : value;
}

/** Writes the low bytes of an integer; returns the offset after them. */
function writeInteger(bytes, input, offset, size, { isLittle, isSigned }) {
  const value = +input;
  const bits = size * 8;
  const least = isSigned ? -(2 ** (bits - 1)) : 0;
  if (size === 1 && typeof offset !== "number") throw invalidArgType("offset", "number", offset);
  if (value < least || value >= least + 2 ** bits || value > least + 2 ** bits - 1) {
    throw outOfRange("value", describeRange(size, isSigned, ""), value);
  }
  checkBounds(bytes, offset, size);
  let rest = Math.trunc(value) || 0;
  if (rest < 0) rest += 2 ** bits;
  for (let index = 0; index < size; index++) {
    bytes[isLittle ? offset + index : offset + size - 1 - index] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  return offset + size;
}

/** Copies bytes out of or into the scratch place, reversed for big endian. */
function load(bytes, offset, size, isLittle) {
  for (let index = 0; index < size; index++) {
    scratch[isLittle ? index : size - 1 - index] = bytes[offset + index];
  }
}

function store(bytes, offset, size, isLittle) {
  for (let index = 0; index < size; index++) {
    bytes[offset + index] = scratch[isLittle ? index : size - 1 - index];
  }
  return offset + size;
}

/** The methods that `Buffer.prototype` receives. */
export const numberMethods = {};

/** Adds a method, also under the name that writes `Uint` instead of `UInt`. */
function addMethods(methods) {
  for (const [name, method] of Object.entries(methods)) {
    numberMethods[name] = method;
    if (name.includes("UInt")) numberMethods[name.replace("UInt", "Uint")] = method;
  }
}

/** Adds reading and writing of integers with a fixed number of bytes. */
function addFixed(suffix, size, kind) {
  addMethods({
    [`read${suffix}`](offset = 0) {
      return readInteger(this, offset, size, kind);
    },
    [`write${suffix}`](value, offset = 0) {
      return writeInteger(this, value, offset, size, kind);
    },
  });
}

/** Adds reading and writing of integers whose number of bytes is an argument. */
function addVariable(suffix, kind) {
  addMethods({
    [`read${suffix}`](offset, byteLength) {
      if (offset === undefined) throw invalidArgType("offset", "number", offset);
      checkSize(byteLength);
      return readInteger(this, offset, byteLength, kind);
    },
    [`write${suffix}`](value, offset, byteLength) {
      checkSize(byteLength);
      return writeInteger(this, value, offset, byteLength, kind);
    },
  });
}

/** Adds reading and writing through a view of the scratch place. */
function addView(name, order, size, checkValue) {
  const view = views[name];
  const isLittle = order === "LE";
  addMethods({
    [`read${name}${order}`](offset = 0) {
      checkBounds(this, offset, size);
      load(this, offset, size, isLittle);
      return view[0];
    },
    [`write${name}${order}`](value, offset = 0) {
      checkValue(value);
      checkBounds(this, offset, size);
      view[0] = value;
      return store(this, offset, size, isLittle);
    },
  });
}

function bigIntCheck(least, most, isSigned) {
  return (value) => {
    if (value < least || value > most) throw outOfRange("value", describeRange(8, isSigned, "n"), value);
  };
}

for (const order of ["LE", "BE"]) {
  const isLittle = order === "LE";
  for (const [word, isSigned] of [
    ["UInt", false],
    ["Int", true],
  ]) {
    const kind = { isLittle, isSigned };
    addVariable(`${word}${order}`, kind);
    if (isLittle) addFixed(`${word}8`, 1, kind);
    addFixed(`${word}16${order}`, 2, kind);
    addFixed(`${word}32${order}`, 4, kind);
  }
  addView("Float", order, 4, () => {});
  addView("Double", order, 8, () => {});
  addView("BigUInt64", order, 8, bigIntCheck(0n, 2n ** 64n - 1n, false));
  addView("BigInt64", order, 8, bigIntCheck(-(2n ** 63n), 2n ** 63n - 1n, true));
}
