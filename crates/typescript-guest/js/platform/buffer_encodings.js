// The encodings of `Buffer`: their names, and texts to bytes and back.

import native from "codeyard:native";
import { withCode } from "./errors.js";

const NAMES = new Map([
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

/** The encoding of a name in any case; `undefined` for other names. */
export function encodingOf(name) {
  return NAMES.get(name) ?? NAMES.get(`${name}`.toLowerCase());
}

/** Like `encodingOf`, but an unknown name is an error. */
export function requireEncoding(name) {
  const encoding = encodingOf(name);
  if (encoding === undefined)
    throw withCode(new TypeError(`Unknown encoding: ${name}`), "ERR_UNKNOWN_ENCODING");
  return encoding;
}

export const textToBytes = (text, encoding) => native.encode(text, encoding);

export const bytesToText = (bytes, encoding) => native.decode(bytes, encoding, false);

/** The number of bytes in Base64 text, by its length alone, as in Node. */
function base64Length(text) {
  let digits = text.length;
  if (digits > 1 && text.endsWith("=")) digits -= text.at(-2) === "=" ? 2 : 1;
  return Math.floor((digits * 3) / 4);
}

/** The number of bytes of a text. */
export function encodedLength(text, encoding) {
  switch (encoding) {
    case "utf16le":
      return text.length * 2;
    case "latin1":
    case "ascii":
      return text.length;
    case "hex":
      return text.length >>> 1;
    case "base64":
    case "base64url":
      return base64Length(text);
    default:
      return native.encode(text, "utf8").length;
  }
}

/** The greatest length up to `limit` at which a text ends with a whole character. */
export function wholeCharacters(bytes, limit, encoding) {
  if (bytes.length <= limit) return bytes.length;
  if (encoding === "utf16le") return limit - (limit % 2);
  let end = limit;
  if (encoding === "utf8") while (end > 0 && (bytes[end] & 0xc0) === 0x80) end -= 1;
  return end;
}
