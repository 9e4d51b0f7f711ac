// The module `node:string_decoder`: text from pieces of bytes that may end within a character.

import native from "codeyard:native";
import { Buffer } from "./buffer.js";
import { joinBytes } from "./bytes.js";
import { invalidArgType, withCode } from "./errors.js";

const { decode } = native;
const EMPTY = new Uint8Array(0);
const LONGEST_CHARACTER = 4;

/** By each name of an encoding: its own name. */
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

function readEncoding(value) {
  if (value === undefined || value === null || value === "") return "utf8";
  const encoding = ENCODINGS.get(`${value}`.toLowerCase());
  if (encoding === undefined) {
    throw withCode(new TypeError(`Unknown encoding: ${String(value)}`), "ERR_UNKNOWN_ENCODING");
  }
  return encoding;
}

/** How many bytes a character has that begins with this byte. */
function lengthOf(byte) {
  if (byte >> 5 === 0b110) return 2;
  if (byte >> 4 === 0b1110) return 3;
  return byte >> 3 === 0b11110 ? 4 : 1;
}

/** The length of the begun character at the end, and how long it will be. */
function openUtf8(bytes) {
  const earliest = Math.max(0, bytes.length - LONGEST_CHARACTER + 1);
  for (let start = bytes.length - 1; start >= earliest; start -= 1) {
    if (bytes[start] >> 6 === 0b10) continue;
    const held = bytes.length - start;
    const length = lengthOf(bytes[start]);
    return held < length ? [held, length] : [0, 0];
  }
  return [0, 0];
}

/** The same for UTF-16: half a unit, or the first half of a pair. */
function openUtf16(bytes) {
  const odd = bytes.length % 2;
  const last = bytes[bytes.length - odd - 1];
  const isFirstOfPair = bytes.length > odd && last >= 0xd8 && last <= 0xdb;
  if (isFirstOfPair) return [2 + odd, 4];
  return [odd, 2];
}

const openBase64 = (bytes) => [bytes.length % 3, 3];
const OPEN = new Map([
  ["utf8", openUtf8],
  ["utf16le", openUtf16],
  ["base64", openBase64],
  ["base64url", openBase64],
]);

export class StringDecoder {
  #held = EMPTY;
  #wanted = 0;

  constructor(encoding = undefined) {
    this.encoding = readEncoding(encoding);
  }

  /** Returns the text of all whole characters so far; the rest waits for the next bytes. */
  write(piece) {
    if (typeof piece === "string") return piece;
    if (!ArrayBuffer.isView(piece)) throw invalidArgType("buf", ["Buffer", "TypedArray", "DataView"], piece);
    const added = new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength);
    const bytes = this.#held.length > 0 ? joinBytes([this.#held, added]) : added;
    const [held, wanted] = OPEN.get(this.encoding)?.(bytes) ?? [0, 0];
    this.#wanted = held > 0 ? wanted : 0;
    this.#held = held > 0 ? bytes.slice(bytes.length - held) : EMPTY;
    return decode(bytes.subarray(0, bytes.length - held), this.encoding, false);
  }

  /** Returns what is left, also if it is no whole character. */
  end(piece = undefined) {
    const text = piece === undefined ? "" : this.write(piece);
    const rest = this.#held;
    this.#held = EMPTY;
    this.#wanted = 0;
    return text + decode(rest, this.encoding, false);
  }

  /** Old decoders had this method in place of `write`, with a place to begin. */
  text(piece, offset) {
    this.#held = EMPTY;
    return this.write(piece.subarray(offset));
  }

  get lastChar() {
    const bytes = Buffer.alloc(LONGEST_CHARACTER);
    bytes.set(this.#held);
    return bytes;
  }

  get lastNeed() {
    return this.#wanted - this.#held.length;
  }

  get lastTotal() {
    return this.#wanted;
  }
}

export default { StringDecoder };
