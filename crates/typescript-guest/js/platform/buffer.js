// `node:buffer`: the class `Buffer`, blobs, and functions on bytes.

import native from "codeyard:native";
import { Blob, File } from "./blob.js";
import { Buffer } from "./buffer_class.js";
import { bytesToText, encodingOf, textToBytes } from "./buffer_encodings.js";
import { MAX_LENGTH, checkBytes } from "./buffer_search.js";
import { bytesOf } from "./bytes.js";
import { atob, btoa } from "./encoding.js";
import { invalidArgType, withCode } from "./errors.js";

const MAX_STRING_LENGTH = 536870888;
const TRANSCODED = new Set(["utf8", "utf16le", "latin1", "ascii"]);

export const kMaxLength = MAX_LENGTH;
export const kStringMaxLength = MAX_STRING_LENGTH;
export const constants = Object.freeze({ MAX_LENGTH, MAX_STRING_LENGTH });
export const INSPECT_MAX_BYTES = 50;

function inputBytes(input) {
  const bytes = bytesOf(input);
  if (bytes === undefined) throw invalidArgType("input", ["ArrayBuffer", "Buffer", "TypedArray"], input);
  return bytes;
}

export function isUtf8(input) {
  return native.decode(inputBytes(input), "utf8", true) !== undefined;
}

export function isAscii(input) {
  const text = bytesToText(inputBytes(input), "latin1");
  return !/[^\x00-\x7f]/.test(text);
}

/** Writes text in another encoding; characters that it lacks become question marks. */
export function transcode(source, fromEncoding, toEncoding) {
  checkBytes(source, "source");
  const from = encodingOf(fromEncoding);
  const to = encodingOf(toEncoding);
  if (!TRANSCODED.has(from) || !TRANSCODED.has(to)) {
    const code = "U_ILLEGAL_ARGUMENT_ERROR";
    throw Object.assign(withCode(new Error(`Unable to transcode Buffer [${code}]`), code), { errno: 1 });
  }
  const text = bytesToText(source, from);
  if (to === "utf8" || to === "utf16le") return Buffer.from(text, to);
  const missing = to === "ascii" ? /[^\x00-\x7f]/gu : /[^\x00-\xff]/gu;
  return Buffer.from(textToBytes(text.replace(missing, "?"), "latin1").buffer);
}

/** No blob has an address here. */
export function resolveObjectURL() {
  return undefined;
}

export function SlowBuffer(size) {
  return Buffer.alloc(size);
}

export { Blob, Buffer, File, atob, btoa };

export default {
  Buffer,
  SlowBuffer,
  transcode,
  isUtf8,
  isAscii,
  kMaxLength,
  kStringMaxLength,
  btoa,
  atob,
  constants,
  INSPECT_MAX_BYTES,
  Blob,
  resolveObjectURL,
  File,
};
