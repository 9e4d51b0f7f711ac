// `TextEncoder`, `TextDecoder`, `atob` and `btoa`.

import native from "codeyard:native";
import { bytesOf, isUint8Array, joinBytes } from "./bytes.js";
import { DOMException } from "./dom_exception.js";
import { checkString, invalidArgType, missingArgs, withCode } from "./errors.js";
import { asInterface, hiddenMethod } from "./interface.js";
import { invalidThis } from "./node_error.js";

const INSPECT = Symbol.for("nodejs.util.inspect.custom");

const LABELS = new Map();
for (const [encoding, labels] of Object.entries({
  "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
  "utf-16le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
  "utf-16be": "unicodefffe utf-16be",
  "windows-1252":
    "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 " +
    "iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
})) {
  for (const label of labels.split(" ")) LABELS.set(label, encoding);
}

/** What windows-1252 has at 0x80 to 0x9f, where Latin 1 has control characters. */
const WINDOWS = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

export class TextEncoder {
  #encoder = true;

  get encoding() {
    if (!(#encoder in Object(this))) throw invalidThis("TextEncoder");
    return "utf-8";
  }

  encode(input = "") {
    if (!(#encoder in Object(this))) throw invalidThis("TextEncoder");
    return native.encode(`${input}`, "utf8");
  }

  encodeInto(src, dest) {
    if (!(#encoder in Object(this))) throw invalidThis("TextEncoder");
    checkString(src, "src");
    if (!isUint8Array(dest)) throw invalidArgType("dest", "Uint8Array", dest);
    const text = src.slice(0, dest.length);
    const bytes = native.encode(text, "utf8");
    if (bytes.length <= dest.length && endsWhole(src, text.length)) {
      dest.set(bytes);
      return { read: text.length, written: bytes.length };
    }
    const fitting = bytes.subarray(0, wholeLength(bytes, dest.length));
    const read = native.decode(fitting, "utf8", false).length;
    if (read === text.length && !endsWhole(src, read)) return encodeShorter(text, dest);
    dest.set(fitting);
    return { read, written: fitting.length };
  }
}

/** Whether no surrogate pair is cut at this index. */
function endsWhole(text, index) {
  return index >= text.length || !isHighSurrogate(text.charCodeAt(index - 1));
}

/** Encodes a text without its last code unit, the first half of a pair that did not fit. */
function encodeShorter(text, dest) {
  const bytes = native.encode(text.slice(0, -1), "utf8");
  dest.set(bytes);
  return { read: text.length - 1, written: bytes.length };
}

/** The greatest length up to `limit` that cuts no character of UTF-8. */
function wholeLength(bytes, limit) {
  let end = Math.min(limit, bytes.length);
  while (end > 0 && end < bytes.length && (bytes[end] & 0xc0) === 0x80) end -= 1;
  return end;
}

const isHighSurrogate = (unit) => unit >= 0xd800 && unit <= 0xdbff;

/** The least and the greatest second byte after a lead byte of UTF-8. */
function secondByteRange(lead) {
  if (lead === 0xe0) return [0xa0, 0xbf];
  if (lead === 0xed) return [0x80, 0x9f];
  if (lead === 0xf0) return [0x90, 0xbf];
  if (lead === 0xf4) return [0x80, 0x8f];
  return [0x80, 0xbf];
}

/** How many bytes at the end begin a character of UTF-8 that may still be completed. */
function unfinishedUtf8(bytes) {
  const { length } = bytes;
  for (let back = 1; back <= Math.min(3, length); back++) {
    const byte = bytes[length - back];
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte < 0xc2 || byte > 0xf4 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    if (needed <= back) return 0;
    const [least, most] = secondByteRange(byte);
    const second = bytes[length - back + 1];
    return back === 1 || (second >= least && second <= most) ? back : 0;
  }
  return 0;
}

/** How many bytes at the end begin a code unit or a surrogate pair; `high` is where the high byte lies. */
function unfinishedUtf16(bytes, high) {
  const odd = bytes.length % 2;
  const last = bytes.length - odd - 2;
  const unit = last < 0 ? 0 : (bytes[last + high] << 8) | bytes[last + 1 - high];
  return odd + (isHighSurrogate(unit) ? 2 : 0);
}

/** For each encoding: how many bytes a stream keeps back, and the text of bytes (`undefined`: malformed). */
const DECODERS = {
  "utf-8": {
    unfinished: unfinishedUtf8,
    decode: (bytes, fatal) => native.decode(bytes, "utf8", fatal),
  },
  "utf-16le": {
    unfinished: (bytes) => unfinishedUtf16(bytes, 1),
    decode: decodeUtf16,
  },
  "utf-16be": {
    unfinished: (bytes) => unfinishedUtf16(bytes, 0),
    decode(bytes, fatal) {
      const swapped = new Uint8Array(bytes);
      native.swap(swapped.subarray(0, swapped.length - (swapped.length % 2)), 2);
      return decodeUtf16(swapped, fatal);
    },
  },
  "windows-1252": {
    unfinished: () => 0,
    decode(bytes) {
      const text = native.decode(bytes, "latin1", false);
      return text.replace(/[\x80-\x9f]/g, (char) => WINDOWS[char.charCodeAt(0) - 0x80]);
    },
  },
};

function decodeUtf16(bytes, fatal) {
  const odd = bytes.length % 2;
  const text = native.decode(bytes.subarray(0, bytes.length - odd), "utf16le", false);
  if (fatal && (odd || !text.isWellFormed())) return undefined;
  const isCut = odd && !isHighSurrogate(text.charCodeAt(text.length - 1));
  return text.toWellFormed() + (isCut ? "\ufffd" : "");
}

function decoderOptions(options) {
  if (options === undefined || options === null) return {};
  if (typeof options !== "object" && typeof options !== "function") {
    throw invalidArgType("options", "object", options);
  }
  return options;
}

export class TextDecoder {
  #encoding;
  #decoder;
  #fatal;
  #ignoreBOM;
  /** Bytes of a stream that were kept back. */
  #rest = new Uint8Array(0);
  /** Whether a stream gave text already, so that a byte order mark is ordinary text. */
  #began = false;

  constructor(encoding = "utf-8", options = undefined) {
    const found = LABELS.get(
      `${encoding}`
        .replace(/^[\t\n\f\r ]+/, "")
        .trimEnd()
        .toLowerCase(),
    );
    const { fatal, ignoreBOM } = decoderOptions(options);
    if (found === undefined) {
      throw withCode(
        new RangeError(`The "${encoding}" encoding is not supported`),
        "ERR_ENCODING_NOT_SUPPORTED",
      );
    }
    this.#encoding = found;
    this.#decoder = DECODERS[found];
    this.#fatal = Boolean(fatal);
    this.#ignoreBOM = Boolean(ignoreBOM);
  }

  static #check(decoder) {
    if (!(#encoding in Object(decoder))) throw invalidThis("TextDecoder");
  }

  get encoding() {
    TextDecoder.#check(this);
    return this.#encoding;
  }

  get fatal() {
    TextDecoder.#check(this);
    return this.#fatal;
  }

  get ignoreBOM() {
    TextDecoder.#check(this);
    return this.#ignoreBOM;
  }

  decode(input = new Uint8Array(0), options = undefined) {
    TextDecoder.#check(this);
    const given = bytesOf(input);
    if (given === undefined) {
      throw withCode(
        new TypeError(
          'The "list" argument must be an instance of SharedArrayBuffer, ArrayBuffer or ArrayBufferView.',
        ),
        "ERR_INVALID_ARG_TYPE",
      );
    }
    const stream = Boolean(decoderOptions(options).stream);
    const bytes = this.#rest.length ? joinBytes([this.#rest, given]) : given;
    const end = bytes.length - (stream ? this.#decoder.unfinished(bytes) : 0);
    this.#rest = bytes.slice(end);
    const text = this.#decoder.decode(bytes.subarray(0, end), this.#fatal);
    if (text === undefined) throw this.#malformed();
    return this.#withoutMark(text, stream);
  }

  #malformed() {
    this.#rest = new Uint8Array(0);
    this.#began = false;
    const message = `The encoded data was not valid for encoding ${this.#encoding}`;
    return withCode(new TypeError(message), "ERR_ENCODING_INVALID_ENCODED_DATA");
  }

  /** Removes the byte order mark that begins a text. */
  #withoutMark(text, stream) {
    const isMarked = !this.#began && !this.#ignoreBOM && text.startsWith("\ufeff");
    this.#began = stream && (this.#began || text !== "");
    return isMarked && this.#encoding !== "windows-1252" ? text.slice(1) : text;
  }
}

/** Decodes Base64 as the web does: white space is skipped, anything else that does not fit is an error. */
export function atob(input) {
  if (arguments.length === 0) throw missingArgs("input");
  const text = `${input}`.replace(/[\t\n\f\r ]+/g, "");
  const digits = text.replace(/={1,2}$/, "");
  const padding = text.length - digits.length;
  if (/[^A-Za-z0-9+/]/.test(digits)) throw new DOMException("Invalid character", "InvalidCharacterError");
  if (digits.length % 4 === 1) {
    const message = "The string to be decoded is not correctly encoded.";
    throw new DOMException(message, "InvalidCharacterError");
  }
  if (padding && (digits.length + padding) % 4 !== 0) {
    throw new DOMException("Invalid character", "InvalidCharacterError");
  }
  return native.decode(native.encode(digits, "base64"), "latin1", false);
}

export function btoa(input) {
  if (arguments.length === 0) throw missingArgs("input");
  const text = `${input}`;
  if (/[^\x00-\xff]/.test(text)) throw new DOMException("Invalid character", "InvalidCharacterError");
  return native.decode(native.encode(text, "latin1"), "base64", false);
}

/** Shows an encoder as Node does, without the name of its class. */
function inspectEncoder(depth, options, inspect) {
  if (typeof depth === "number" && depth < 0) return this;
  return inspect({ encoding: this.encoding }, options);
}

function inspectDecoder(depth, options, inspect) {
  if (typeof depth === "number" && depth < 0) return this;
  const { encoding, fatal, ignoreBOM } = this;
  return `TextDecoder ${inspect({ encoding, fatal, ignoreBOM }, options)}`;
}

asInterface(TextEncoder);
asInterface(TextDecoder);
hiddenMethod(TextEncoder, INSPECT, inspectEncoder);
hiddenMethod(TextDecoder, INSPECT, inspectDecoder);
