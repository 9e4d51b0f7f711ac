// The class `Buffer`: bytes with Node's methods.

import native from "codeyard:native";
import {
  bytesToText,
  encodedLength,
  encodingOf,
  requireEncoding,
  textToBytes,
  wholeCharacters,
} from "./buffer_encodings.js";
import { numberMethods } from "./buffer_numbers.js";
import { MAX_LENGTH, checkBytes, fill, searchMethods } from "./buffer_search.js";
import { bytesOf, checkLength, isAnyBuffer, typedArrayKind } from "./bytes.js";
import { checkInteger, checkString, invalidArgType, withCode } from "./errors.js";

const INSPECT = Symbol.for("nodejs.util.inspect.custom");
const SHOWN_BYTES = 50;
const SOURCES = ["string", "Buffer", "ArrayBuffer", "Array", "Array-like Object"];

/** Makes the objects; `Buffer` itself can be called without `new` and is no class. */
class FastBuffer extends Uint8Array {}

/** The same bytes as a Buffer, without a copy. */
const asBuffer = ({ buffer, byteOffset, length }) => new FastBuffer(buffer, byteOffset, length);

/** Kept for old programs: a number makes zeroes, anything else goes to `Buffer.from`. */
export function Buffer(arg, encodingOrOffset, length) {
  if (typeof arg !== "number") return Buffer.from(arg, encodingOrOffset, length);
  if (typeof encodingOrOffset === "string") throw invalidArgType("string", "string", arg);
  return Buffer.alloc(arg);
}

Object.setPrototypeOf(Buffer, Uint8Array);
FastBuffer.prototype.constructor = Buffer;
Buffer.prototype = FastBuffer.prototype;
Object.defineProperty(Buffer, Symbol.species, { configurable: true, get: () => FastBuffer });

function fromText(text, name) {
  const encoding = typeof name === "string" && name !== "" ? requireEncoding(name) : "utf8";
  return asBuffer(textToBytes(text, encoding));
}

function outside(name) {
  return withCode(new RangeError(`"${name}" is outside of buffer bounds`), "ERR_BUFFER_OUT_OF_BOUNDS");
}

/** Views a part of an ArrayBuffer; values other than numbers count as 0. */
function fromArrayBuffer(buffer, byteOffset, length) {
  const offset = byteOffset === undefined ? 0 : +byteOffset || 0;
  const most = buffer.byteLength - offset;
  if (most < 0) throw outside("offset");
  if (length === undefined) return new FastBuffer(buffer, offset, most);
  const wanted = +length;
  if (!(wanted > 0)) return new FastBuffer(buffer, offset, 0);
  if (wanted > most) throw outside("length");
  return new FastBuffer(buffer, offset, wanted);
}

function fromArrayLike(list) {
  const buffer = new FastBuffer(Math.max(0, Math.trunc(list.length) || 0));
  buffer.set(buffer.length ? list : []);
  return buffer;
}

function fromObject(value) {
  if (value.length !== undefined || isAnyBuffer(value.buffer)) {
    return typeof value.length === "number" ? fromArrayLike(value) : new FastBuffer();
  }
  return value.type === "Buffer" && Array.isArray(value.data) ? fromArrayLike(value.data) : undefined;
}

Buffer.from = function from(value, encodingOrOffset, length) {
  if (typeof value === "string") return fromText(value, encodingOrOffset);
  if (typeof value === "object" && value !== null) {
    if (isAnyBuffer(value)) return fromArrayBuffer(value, encodingOrOffset, length);
    const inner = value.valueOf?.();
    const isOther = inner !== undefined && inner !== null && inner !== value;
    if (isOther && (typeof inner === "string" || typeof inner === "object")) {
      return Buffer.from(inner, encodingOrOffset, length);
    }
    const made = fromObject(value);
    if (made) return made;
    const text = value[Symbol.toPrimitive]?.("string");
    if (typeof text === "string") return fromText(text, encodingOrOffset);
  }
  throw invalidArgType("first argument", SOURCES, value);
};

Buffer.of = function of(...items) {
  return fromArrayLike(items);
};

Buffer.copyBytesFrom = function copyBytesFrom(view, offset, length) {
  if (typedArrayKind(view) === undefined) throw invalidArgType("view", "TypedArray", view);
  if (offset !== undefined) checkInteger(offset, "offset", 0);
  if (length !== undefined) checkInteger(length, "length", 0);
  const start = offset ?? 0;
  return asBuffer(bytesOf(view.slice(start, length === undefined ? undefined : start + length)));
};

Buffer.alloc = function alloc(size, value, encoding) {
  checkLength(size, "size", MAX_LENGTH);
  const buffer = new FastBuffer(size);
  const isFilled = value !== undefined && value !== 0 && size > 0;
  return isFilled ? Reflect.apply(fill, buffer, [value, 0, buffer.length, encoding]) : buffer;
};

Buffer.allocUnsafe = function allocUnsafe(size) {
  return Buffer.alloc(size);
};

Buffer.allocUnsafeSlow = function allocUnsafeSlow(size) {
  return Buffer.alloc(size);
};

Buffer.isBuffer = function isBuffer(value) {
  return value instanceof Buffer;
};

Buffer.isEncoding = function isEncoding(encoding) {
  return typeof encoding === "string" && encoding !== "" && encodingOf(encoding) !== undefined;
};

Buffer.compare = function compare(buf1, buf2) {
  checkBytes(buf1, "buf1");
  checkBytes(buf2, "buf2");
  return buf1 === buf2 ? 0 : native.compare(buf1, buf2);
};

Buffer.byteLength = function byteLength(string, encoding) {
  if (typeof string === "string") return encodedLength(string, encoding ? encodingOf(encoding) : "utf8");
  const bytes = bytesOf(string);
  if (bytes === undefined) throw invalidArgType("string", ["string", "Buffer", "ArrayBuffer"], string);
  return bytes.length;
};

Buffer.concat = function concat(list, length) {
  if (!Array.isArray(list)) throw invalidArgType("list", "Array", list);
  if (length !== undefined) checkInteger(length, "length", 0, MAX_LENGTH);
  const total = length ?? list.reduce((sum, item) => sum + (item?.length ?? 0), 0);
  for (const [index, item] of list.entries()) checkBytes(item, `list[${index}]`);
  const joined = new FastBuffer(total);
  let offset = 0;
  for (const item of list) {
    if (offset >= total) break;
    joined.set(item.length > total - offset ? item.subarray(0, total - offset) : item, offset);
    offset += item.length;
  }
  return joined;
};

Buffer.poolSize = 8192;

/** Reads a position of a text or a slice: cuts fractions; values other than numbers count as 0. */
const whole = (value) => Math.trunc(value) || 0;

function toString(encoding, start, end) {
  const name = encoding === undefined ? "utf8" : requireEncoding(encoding);
  const from = start > 0 ? whole(start) : 0;
  const to = end === undefined || end > this.length ? this.length : whole(end);
  if (to <= from) return "";
  const isAll = from === 0 && to === this.length;
  return bytesToText(isAll ? this : this.subarray(from, to), name);
}

function write(string, offset, length, encoding) {
  if (typeof string !== "string") {
    throw withCode(new TypeError("argument must be a string"), "ERR_INVALID_ARG_TYPE");
  }
  let [start, count, name] = [0, this.length, encoding];
  if (length === undefined && typeof offset === "string") {
    name = offset;
  } else if (offset !== undefined) {
    checkInteger(offset, "offset", 0, this.length);
    [start, count] = [offset, this.length - offset];
    if (typeof length === "string") name = length;
    else if (length !== undefined) {
      checkInteger(length, "length", 0, this.length);
      count = Math.min(length, count);
    }
  } else {
    name = undefined;
  }
  return writeText(this, string, start, count, name ? requireEncoding(name) : "utf8");
}

/** Writes whole characters as far as they fit; returns the number of bytes. */
function writeText(buffer, text, start, count, encoding) {
  const perByte = encoding === "hex" ? 2 : encoding.startsWith("base64") ? Infinity : 1;
  const bytes = textToBytes(perByte === Infinity ? text : text.slice(0, count * perByte), encoding);
  const written = wholeCharacters(bytes, count, encoding);
  buffer.set(bytes.subarray(0, written), start);
  return written;
}

/** A view of a part; negative positions count from the end. */
function subarray(start, end) {
  const { length } = this;
  const place = (value) => {
    const integer = whole(+value);
    return integer < 0 ? Math.max(0, integer + length) : Math.min(integer, length);
  };
  const from = place(start ?? 0);
  const to = end === undefined ? length : place(end);
  return new FastBuffer(this.buffer, this.byteOffset + from, Math.max(0, to - from));
}

function toJSON() {
  return { type: "Buffer", data: Array.from(this) };
}

/** Shows the first bytes in hexadecimal: `<Buffer 01 02>`. */
function inspect() {
  const first = bytesToText(this.subarray(0, SHOWN_BYTES), "hex").replace(/..(?!$)/g, "$& ");
  const more = this.length - SHOWN_BYTES;
  const rest = more > 0 ? ` ... ${more} more byte${more > 1 ? "s" : ""}` : "";
  return `<${this.constructor?.name ?? "Buffer"} ${first}${rest}>`;
}

Object.assign(Buffer.prototype, numberMethods, searchMethods, {
  toString,
  toLocaleString: toString,
  write,
  slice: subarray,
  subarray,
  toJSON,
  inspect,
});
Object.defineProperty(Buffer.prototype, INSPECT, { value: inspect, writable: true, configurable: true });

/** Two names from Node's beginnings. */
for (const [name, source] of [
  ["parent", "buffer"],
  ["offset", "byteOffset"],
]) {
  Object.defineProperty(Buffer.prototype, name, {
    configurable: true,
    enumerable: true,
    get() {
      return this instanceof Buffer ? this[source] : undefined;
    },
  });
}

/** Methods for one encoding each, such as `hexSlice` and `utf8Write`. */
for (const name of ["ascii", "base64", "base64url", "latin1", "hex", "ucs2", "utf8"]) {
  const encoding = encodingOf(name);
  Buffer.prototype[`${name}Slice`] = function slice(start = 0, end = this.length) {
    return bytesToText(this.subarray(start, end), encoding);
  };
  Buffer.prototype[`${name}Write`] = function writeAs(string, offset = 0, length = this.length - offset) {
    checkString(string, "argument");
    return writeText(this, string, offset, Math.min(length, this.length - offset), encoding);
  };
}
