// The global `crypto`: random values, digests, and keyed hashes with keys as objects.

import native from "codeyard:native";
import { bytesToText, textToBytes } from "./buffer_encodings.js";
import { bytesOf, typedArrayKind } from "./bytes.js";
import { makeUuid } from "./crypto_random.js";
import { DOMException } from "./dom_exception.js";
import { invalidArgValue, withCode } from "./errors.js";
import { asInterface, hiddenMethod } from "./interface.js";
import { illegalConstructor, invalidThis } from "./node_error.js";

const INSPECT = Symbol.for("nodejs.util.inspect.custom");
const MOST_RANDOM_BYTES = 65536;
const DIGESTS = new Map([
  ["SHA-1", { name: "sha1", block: 512, jwk: "HS1" }],
  ["SHA-256", { name: "sha256", block: 512, jwk: "HS256" }],
  ["SHA-384", { name: "sha384", block: 1024, jwk: "HS384" }],
  ["SHA-512", { name: "sha512", block: 1024, jwk: "HS512" }],
]);
const FORMATS = ["raw", "pkcs8", "spki", "jwk"];
const USAGES = ["encrypt", "decrypt", "sign", "verify", "deriveKey", "deriveBits", "wrapKey", "unwrapKey"];

/** Only this module makes objects of these classes. */
const secret = Symbol("secret");

function checkConstructor(token) {
  if (token !== secret) throw illegalConstructor();
}

const ordinal = (n) => `${n}${["st", "nd", "rd"][n - 1] ?? "th"}`;

function failed(method, code, words) {
  return withCode(new TypeError(`Failed to execute '${method}' on 'SubtleCrypto': ${words}`), code);
}

function checkCount(method, given, needed) {
  if (given >= needed) return;
  throw failed(method, "ERR_MISSING_ARGS", `${needed} arguments required, but only ${given} present.`);
}

function dataOf(method, index, value) {
  const bytes = bytesOf(value);
  if (bytes !== undefined) return bytes;
  const words = `${ordinal(index)} argument is not instance of ArrayBuffer, Buffer, TypedArray, or DataView.`;
  throw failed(method, "ERR_INVALID_ARG_TYPE", words);
}

function unrecognized() {
  return new DOMException("Unrecognized algorithm name", "NotSupportedError");
}

function missingMember(dictionary, member) {
  const words = `passed algorithm can not be converted to '${dictionary}' because '${member}'`;
  const message = `Failed to normalize algorithm: ${words} is required in '${dictionary}'.`;
  return withCode(new TypeError(message), "ERR_MISSING_OPTION");
}

/** The name of an algorithm that is a text or an object with a name, in capitals. */
function algorithmName(algorithm) {
  if (algorithm === null || typeof algorithm !== "object") return `${algorithm}`.toUpperCase();
  if (algorithm.name === undefined) throw missingMember("Algorithm", "name");
  return `${algorithm.name}`.toUpperCase();
}

function digestOf(algorithm) {
  const name = algorithmName(algorithm);
  if (!DIGESTS.has(name)) throw unrecognized();
  const { name: algorithmOfNative, block } = DIGESTS.get(name);
  return { name, native: algorithmOfNative, block };
}

/** The digest of a keyed hash's parameters. */
function hmacDigest(algorithm, dictionary) {
  if (algorithmName(algorithm) !== "HMAC") throw unrecognized();
  if (algorithm.hash === undefined) throw missingMember(dictionary, "hash");
  return digestOf(algorithm.hash);
}

function checkUsages(method, index, usages, emptyWords) {
  const list = [...usages];
  for (const [at, usage] of list.entries()) {
    if (USAGES.includes(usage)) continue;
    const which = `${ordinal(index)} argument, index ${at} value '${usage}'`;
    throw failed(method, "ERR_INVALID_ARG_VALUE", `${which} is not a valid enum value of type KeyUsage.`);
  }
  if (list.some((usage) => usage !== "sign" && usage !== "verify")) {
    throw new DOMException("Unsupported key usage for an HMAC key", "SyntaxError");
  }
  if (list.length === 0) throw new DOMException(emptyWords, "SyntaxError");
  return [...new Set(list)];
}

let secretBytes;

/** A key of a keyed hash; its bytes stay inside. */
export class CryptoKey {
  #bytes;
  #fields;

  constructor(token, bytes, fields) {
    checkConstructor(token);
    this.#bytes = bytes;
    this.#fields = fields;
  }

  static {
    secretBytes = (key) => (#bytes in Object(key) ? key.#bytes : undefined);
  }

  get type() {
    return "secret";
  }

  get extractable() {
    return this.#fields.extractable;
  }

  get algorithm() {
    return this.#fields.algorithm;
  }

  get usages() {
    return this.#fields.usages;
  }
}

function makeKey(bytes, digest, extractable, usages) {
  const algorithm = { name: "HMAC", hash: { name: digest.name }, length: bytes.length * 8 };
  return new CryptoKey(secret, bytes, { extractable: Boolean(extractable), algorithm, usages });
}

function checkKey(method, index, key) {
  if (secretBytes(key) !== undefined) return;
  throw failed(method, "ERR_INVALID_ARG_TYPE", `${ordinal(index)} argument is not of type CryptoKey.`);
}

/** Computes the keyed hash for a method that the key must allow. */
function keyedHash(method, algorithm, key, data) {
  if (algorithmName(algorithm) !== key.algorithm.name) throw unrecognized();
  if (!key.usages.includes(method)) {
    throw new DOMException(`Unable to use this key to ${method}`, "InvalidAccessError");
  }
  return native.hmac(DIGESTS.get(key.algorithm.hash.name).name, secretBytes(key), data);
}

/** The bytes of a key that comes raw or as a JSON Web Key. */
function importedBytes(format, keyData) {
  if (!FORMATS.includes(format)) {
    const words = `1st argument value '${format}' is not a valid enum value of type KeyFormat.`;
    throw failed("importKey", "ERR_INVALID_ARG_VALUE", words);
  }
  if (format === "raw") return dataOf("importKey", 2, keyData).slice();
  if (format === "jwk" && keyData?.kty === "oct") return textToBytes(`${keyData.k}`, "base64url");
  throw new DOMException(`Unable to import HMAC key with format ${format}`, "NotSupportedError");
}

const asBuffer = (bytes) => bytes.slice().buffer;

export class SubtleCrypto {
  #subtle = true;

  constructor(token) {
    checkConstructor(token);
  }

  static #check(subtle) {
    if (!(#subtle in Object(subtle))) throw invalidThis("SubtleCrypto");
  }

  async digest(algorithm, data) {
    SubtleCrypto.#check(this);
    checkCount("digest", arguments.length, 2);
    const bytes = dataOf("digest", 2, data);
    return asBuffer(native.digest(digestOf(algorithm).native, bytes));
  }

  async importKey(format, keyData, algorithm, extractable, keyUsages) {
    SubtleCrypto.#check(this);
    checkCount("importKey", arguments.length, 5);
    const bytes = importedBytes(format, keyData);
    const digest = hmacDigest(algorithm, "HmacImportParams");
    const usages = checkUsages(
      "importKey",
      5,
      keyUsages,
      "Usages cannot be empty when importing a secret key.",
    );
    if (bytes.length === 0) throw new DOMException("Zero-length key is not supported", "DataError");
    return makeKey(bytes, digest, extractable, usages);
  }

  async generateKey(algorithm, extractable, keyUsages) {
    SubtleCrypto.#check(this);
    checkCount("generateKey", arguments.length, 3);
    const digest = hmacDigest(algorithm, "HmacKeyGenParams");
    const usages = checkUsages("generateKey", 3, keyUsages, "Usages cannot be empty when creating a key.");
    const bits = algorithm.length ?? digest.block;
    if (bits % 8 !== 0) throw invalidArgValue("algorithm.length", bits, "must be a multiple of 8");
    return makeKey(native.random(bits / 8), digest, extractable, usages);
  }

  async exportKey(format, key) {
    SubtleCrypto.#check(this);
    checkCount("exportKey", arguments.length, 2);
    checkKey("exportKey", 2, key);
    if (!key.extractable) throw new DOMException("key is not extractable", "InvalidAccessException");
    if (format === "raw") return asBuffer(secretBytes(key));
    if (format !== "jwk") throw new DOMException("Unable to export an HMAC key", "NotSupportedError");
    const k = bytesToText(secretBytes(key), "base64url");
    const { jwk } = DIGESTS.get(key.algorithm.hash.name);
    return { key_ops: [...key.usages], ext: true, kty: "oct", k, alg: jwk };
  }

  async sign(algorithm, key, data) {
    SubtleCrypto.#check(this);
    checkCount("sign", arguments.length, 3);
    checkKey("sign", 2, key);
    return asBuffer(keyedHash("sign", algorithm, key, dataOf("sign", 3, data)));
  }

  async verify(algorithm, key, signature, data) {
    SubtleCrypto.#check(this);
    checkCount("verify", arguments.length, 4);
    checkKey("verify", 2, key);
    const given = dataOf("verify", 3, signature);
    const right = keyedHash("verify", algorithm, key, dataOf("verify", 4, data));
    let difference = given.length ^ right.length;
    for (let index = 0; index < right.length; index++) difference |= given[index] ^ right[index];
    return difference === 0;
  }
}

export class Crypto {
  #subtle = new SubtleCrypto(secret);

  constructor(token) {
    checkConstructor(token);
  }

  static #check(crypto) {
    if (!(#subtle in Object(crypto))) throw invalidThis("Crypto");
  }

  get subtle() {
    Crypto.#check(this);
    return this.#subtle;
  }

  getRandomValues(array) {
    Crypto.#check(this);
    if (arguments.length === 0) {
      const words = "1 argument required, but only 0 present.";
      const message = `Failed to execute 'getRandomValues' on 'Crypto': ${words}`;
      throw withCode(new TypeError(message), "ERR_MISSING_ARGS");
    }
    const kind = typedArrayKind(array);
    if (kind === undefined || kind.startsWith("Float")) {
      const message = "The data argument must be an integer-type TypedArray";
      throw new DOMException(message, "TypeMismatchError");
    }
    if (array.byteLength > MOST_RANDOM_BYTES) {
      throw new DOMException("The requested length exceeds 65,536 bytes", "QuotaExceededError");
    }
    bytesOf(array).set(native.random(array.byteLength));
    return array;
  }

  randomUUID() {
    Crypto.#check(this);
    return makeUuid();
  }
}

function inspectKey(depth, options, inspect) {
  if (typeof depth === "number" && depth < 0) return this;
  const { type, extractable, algorithm, usages } = this;
  return `CryptoKey ${inspect({ type, extractable, algorithm, usages }, options)}`;
}

for (const Class of [Crypto, SubtleCrypto, CryptoKey]) asInterface(Class);
hiddenMethod(CryptoKey, INSPECT, inspectKey);

export const crypto = new Crypto(secret);
