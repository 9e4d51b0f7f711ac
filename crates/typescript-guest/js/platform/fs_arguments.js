// Reads the arguments of file operations: paths, options, modes, flags, data and times.

import native from "codeyard:native";
import { checkSignal } from "./abort_error.js";
import { Buffer } from "./buffer.js";
import { checkBoolean, checkInteger, invalidArgType, invalidArgValue, withCode } from "./errors.js";
import { FLAGS } from "./fs_constants.js";
import { fileURLToPath } from "./url.js";

const { decode, encode } = native;
const LARGEST_UINT32 = 2 ** 32 - 1;
const LARGEST_INT32 = 2 ** 31 - 1;
const DATA_TYPES = ["string", "Buffer", "TypedArray", "DataView"];

/** The native name of each name that programs may use for an encoding. */
const ENCODINGS = new Map([
  ["utf8", "utf8"],
  ["utf-8", "utf8"],
  ["ucs2", "utf16le"],
  ["ucs-2", "utf16le"],
  ["utf16le", "utf16le"],
  ["utf-16le", "utf16le"],
  ["latin1", "latin1"],
  ["binary", "latin1"],
  ["ascii", "ascii"],
  ["hex", "hex"],
  ["base64", "base64"],
  ["base64url", "base64url"],
]);

const encodingName = (name) => ENCODINGS.get(name) ?? ENCODINGS.get(`${name}`.toLowerCase());
const isUrl = (value) =>
  Boolean(value?.href && value.protocol && value.auth === undefined && value.path === undefined);

/** Bytes as a view of the same memory. */
export function asBytes(view) {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

export function asBuffer(bytes) {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A path given as text, as bytes or as a `file:` URL. */
export function readPath(value, name = "path") {
  let path = isUrl(value) ? fileURLToPath(value) : value;
  if (path instanceof Uint8Array) path = decode(path, "utf8", false);
  if (typeof path !== "string") throw invalidArgType(name, ["string", "Buffer", "URL"], path);
  if (path.includes("\0")) {
    throw invalidArgValue(name, value, "must be a string, Uint8Array, or URL without null bytes");
  }
  return path;
}

/** Options given as an object, or as the name of an encoding; a callback in their place counts as none. */
export function readOptions(options, defaults) {
  if (options === undefined || options === null || typeof options === "function") return { ...defaults };
  const isText = typeof options === "string";
  if (!isText && typeof options !== "object") throw invalidArgType("options", ["string", "Object"], options);
  const result = isText ? { ...defaults, encoding: options } : { ...defaults, ...options };
  checkEncoding(result.encoding);
  checkSignal(result.signal, "options.signal");
  return result;
}

function checkEncoding(encoding) {
  if (!encoding || encoding === "buffer" || encodingName(encoding) !== undefined) return;
  throw invalidArgValue("encoding", encoding, "is invalid encoding");
}

/** Bytes as a program asked for them: text in an encoding, or a `Buffer`. */
export function asEncoded(bytes, encoding) {
  if (!encoding || encoding === "buffer") return asBuffer(bytes);
  return decode(bytes, encodingName(encoding), false);
}

/** A name of the file system as a program asked for it. */
export function encodeName(name, encoding) {
  if (!encoding || encodingName(encoding) === "utf8") return name;
  return asEncoded(encode(name, "utf8"), encoding);
}

/** Text as bytes; an encoding that does not exist counts as UTF-8. */
export function encodeData(text, encoding) {
  return encode(text, (encoding && encodingName(encoding)) || "utf8");
}

/** Data to write, as bytes. */
export function readData(data, encoding) {
  if (typeof data === "string") return encodeData(data, encoding);
  if (ArrayBuffer.isView(data)) return asBytes(data);
  throw invalidArgType("data", DATA_TYPES, data);
}

/** A mode as a number or as octal digits. */
export function readMode(value, name = "mode", fallback = undefined) {
  const mode = value ?? fallback;
  if (typeof mode !== "string") {
    checkInteger(mode, name, 0, LARGEST_UINT32);
    return mode;
  }
  if (!/^[0-7]+$/.test(mode)) {
    throw invalidArgValue(name, value, "must be a 32-bit unsigned integer or an octal string");
  }
  return parseInt(mode, 8);
}

/** How to open, as a number; words such as "w" are allowed. */
export function readFlags(flags, name = "flags") {
  if (typeof flags === "number") {
    checkInteger(flags, name, -LARGEST_INT32 - 1, LARGEST_INT32);
    return flags;
  }
  const number = FLAGS.get(flags ?? "r");
  if (number === undefined) throw invalidArgValue(name, flags);
  return number;
}

/** The bits of `access` and `copyFile`. */
export function readBits(mode, fallback) {
  if (mode === undefined || mode === null) return fallback;
  if (typeof mode !== "number" || !Number.isInteger(mode)) {
    throw withCode(new TypeError("mode must be int32 or null/undefined"), "ERR_INVALID_ARG_TYPE");
  }
  if (mode < 0 || mode > 7) {
    throw withCode(new RangeError("mode is out of range: >= 0 && <= 7"), "ERR_OUT_OF_RANGE");
  }
  return mode;
}

export function readDescriptor(value, name = "fd") {
  checkInteger(value, name, 0, LARGEST_INT32);
  return value;
}

/** A time as seconds since 1970; a number that is none means now. */
export function readTime(time, name = "time") {
  if (typeof time === "string" && time.trim() !== "" && !Number.isNaN(+time)) return +time;
  if (typeof time === "number" && !Number.isNaN(time)) {
    return Number.isFinite(time) && time >= 0 ? time : Date.now() / 1000;
  }
  if (time instanceof Date) return time.getTime() / 1000;
  throw invalidArgType(name, ["Date", "Time in seconds"], time);
}

/** A length to cut to; less than nothing counts as nothing. */
export function readLength(length = 0, name = "len") {
  checkInteger(length ?? 0, name);
  return Math.max(0, length ?? 0);
}

export function checkFlag(options, name) {
  if (options[name] !== undefined) checkBoolean(options[name], `options.${name}`);
}
