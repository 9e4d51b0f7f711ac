// Hashes and keyed hashes of `node:crypto`.

import native from "codeyard:native";
import { Buffer } from "./buffer_class.js";
import { bytesToText, encodingOf, textToBytes } from "./buffer_encodings.js";
import { bytesOf, isAnyBuffer, joinBytes } from "./bytes.js";
import { checkString, invalidArgType, invalidArgValue, withCode } from "./errors.js";

const DATA = ["string", "Buffer", "TypedArray", "DataView"];
const KEY = ["string", "ArrayBuffer", "Buffer", "TypedArray", "DataView", "KeyObject", "CryptoKey"];
const COMPARED = "an instance of ArrayBuffer, Buffer, TypedArray, or DataView";

const NAMES = ["md5", "sha1", "sha256", "sha384", "sha512"];
const ALIASES = new Map(NAMES.map((name) => [name, name]));
for (const name of NAMES) ALIASES.set(`rsa-${name}`, name);
for (const bits of [256, 384, 512]) {
  ALIASES.set(`sha-${bits}`, `sha${bits}`);
  ALIASES.set(`sha2-${bits}`, `sha${bits}`);
}
ALIASES.set("sha-1", "sha1");
ALIASES.set("ssl3-md5", "md5");
ALIASES.set("ssl3-sha1", "sha1");

/** The native name of a hash; `undefined` for one that is not there. */
export const algorithmOf = (name) => ALIASES.get(name.toLowerCase());

/** The bytes of data: text in an encoding, or a view. */
function dataBytes(data, encoding, name) {
  if (typeof data === "string") {
    const known = encodingOf(encoding ?? "utf8") ?? "utf8";
    if (known === "hex" && data.length % 2) {
      throw invalidArgValue("encoding", encoding, `is invalid for data of length ${data.length}`);
    }
    return textToBytes(data, known);
  }
  if (!ArrayBuffer.isView(data)) throw invalidArgType(name, DATA, data);
  return bytesOf(data);
}

function finalized() {
  return withCode(new Error("Digest already called"), "ERR_CRYPTO_HASH_FINALIZED");
}

/** Writes a result as text, or gives it as a Buffer when no known encoding is asked for. */
function present(bytes, encoding) {
  const known = typeof encoding === "string" ? encodingOf(encoding) : undefined;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return known ? bytesToText(buffer, known) : buffer;
}

/** Collects data until the digest is requested; views are copied, since the program may change them. */
class Collector {
  #pieces = [];
  #isDone = false;

  add(data, encoding) {
    const bytes = dataBytes(data, encoding, "data");
    if (this.#isDone) throw finalized();
    this.#pieces.push(typeof data === "string" ? bytes : bytes.slice());
  }

  get isDone() {
    return this.#isDone;
  }

  finish() {
    this.#isDone = true;
    const bytes = joinBytes(this.#pieces);
    this.#pieces = [];
    return bytes;
  }

  copy() {
    if (this.#isDone) throw finalized();
    const copy = new Collector();
    copy.#pieces = [...this.#pieces];
    return copy;
  }
}

export class Hash {
  #algorithm;
  #data = new Collector();

  constructor(algorithm) {
    checkString(algorithm, "algorithm");
    this.#algorithm = algorithmOf(algorithm);
    if (this.#algorithm === undefined) throw new Error("Digest method not supported");
  }

  update(data, inputEncoding) {
    this.#data.add(data, inputEncoding);
    return this;
  }

  digest(outputEncoding) {
    if (this.#data.isDone) throw finalized();
    return present(native.digest(this.#algorithm, this.#data.finish()), outputEncoding);
  }

  copy() {
    const copy = new Hash(this.#algorithm);
    copy.#data = this.#data.copy();
    return copy;
  }
}

export class Hmac {
  #algorithm;
  #key;
  #data = new Collector();

  constructor(hmac, key, options) {
    checkString(hmac, "hmac");
    const isBytes = ArrayBuffer.isView(key) || isAnyBuffer(key);
    if (typeof key !== "string" && !isBytes) throw invalidArgType("key", KEY, key);
    this.#algorithm = algorithmOf(hmac);
    if (this.#algorithm === undefined) {
      throw withCode(new TypeError(`Invalid digest: ${hmac}`), "ERR_CRYPTO_INVALID_DIGEST");
    }
    const encoding = encodingOf(options?.encoding ?? "utf8") ?? "utf8";
    this.#key = isBytes ? bytesOf(key).slice() : textToBytes(key, encoding);
  }

  update(data, inputEncoding) {
    this.#data.add(data, inputEncoding);
    return this;
  }

  /** Unlike a hash, a keyed hash answers a second call, with nothing. */
  digest(outputEncoding) {
    if (this.#data.isDone) return present(new Uint8Array(0), outputEncoding);
    return present(native.hmac(this.#algorithm, this.#key, this.#data.finish()), outputEncoding);
  }
}

export function createHash(algorithm, options) {
  return new Hash(algorithm, options);
}

export function createHmac(hmac, key, options) {
  return new Hmac(hmac, key, options);
}

/** Hashes in one call. */
export function hash(algorithm, input, outputEncoding = "hex") {
  checkString(algorithm, "algorithm");
  if (typeof input !== "string" && !ArrayBuffer.isView(input)) throw invalidArgType("input", DATA, input);
  const known = outputEncoding === "buffer" || encodingOf(outputEncoding) !== undefined;
  if (!known) throw invalidArgValue("outputEncoding", outputEncoding);
  const name = algorithmOf(algorithm);
  if (name === undefined) throw new Error(`Digest method ${algorithm} is not supported`);
  return present(native.digest(name, dataBytes(input, "utf8", "input")), outputEncoding);
}

export function getHashes() {
  return [...NAMES.map((name) => `RSA-${name.toUpperCase()}`), ...NAMES];
}

function comparedBytes(value, name) {
  const bytes = bytesOf(value);
  if (bytes !== undefined) return bytes;
  throw withCode(new TypeError(`The "${name}" argument must be ${COMPARED}.`), "ERR_INVALID_ARG_TYPE");
}

/** The native comparison reads public data; here each byte is compared, wherever the first difference is. */
export function timingSafeEqual(buf1, buf2) {
  const one = comparedBytes(buf1, "buf1");
  const two = comparedBytes(buf2, "buf2");
  if (one.length !== two.length) {
    const message = "Input buffers must have the same byte length";
    throw withCode(new RangeError(message), "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH");
  }
  let difference = 0;
  for (let index = 0; index < one.length; index++) difference |= one[index] ^ two[index];
  return difference === 0;
}
