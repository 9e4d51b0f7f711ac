// Keys from passwords and from other keys: PBKDF2 and HKDF, on top of the native keyed hash.

import native from "codeyard:native";
import { Buffer } from "./buffer_class.js";
import { textToBytes } from "./buffer_encodings.js";
import { bytesOf, joinBytes } from "./bytes.js";
import { algorithmOf } from "./crypto_hash.js";
import { deliver } from "./crypto_random.js";
import { checkFunction, checkInteger, checkString, invalidArgType, outOfRange, withCode } from "./errors.js";

const MOST_ITERATIONS = 2 ** 31 - 1;
const MOST_LENGTH = 2 ** 32;
const MOST_INFO = 1024;
const MOST_BLOCKS = 255;
const KINDS = ["string", "ArrayBuffer", "Buffer", "TypedArray", "DataView"];
const HKDF_KINDS = ["string", "ArrayBuffer", "TypedArray", "DataView", "Buffer"];
const HASH_SIZES = { md5: 16, sha1: 20, sha256: 32, sha384: 48, sha512: 64 };

/** The bytes of an argument that is a text or bytes. */
function readBytes(value, name, kinds) {
  const bytes = typeof value === "string" ? textToBytes(value, "utf8") : bytesOf(value);
  if (bytes === undefined) throw invalidArgType(name, kinds, value);
  return bytes;
}

function readDigest(digest) {
  const algorithm = algorithmOf(digest);
  if (algorithm === undefined) {
    throw withCode(new TypeError(`Invalid digest: ${digest}`), "ERR_CRYPTO_INVALID_DIGEST");
  }
  return algorithm;
}

/** The bytes as whole words, which are fewer to combine. */
const wordsOf = ({ buffer, byteOffset, length }) => new Uint32Array(buffer, byteOffset, length / 4);

/** One block of PBKDF2: all rounds of the keyed hash, combined. */
function pbkdf2Block(algorithm, password, salt, iterations, index) {
  const number = new Uint8Array(4);
  new DataView(number.buffer).setUint32(0, index);
  let round = native.hmac(algorithm, password, joinBytes([salt, number]));
  const block = round.slice();
  const words = wordsOf(block);
  for (let count = 1; count < iterations; count++) {
    round = native.hmac(algorithm, password, round);
    const next = wordsOf(round);
    for (let at = 0; at < words.length; at++) words[at] ^= next[at];
  }
  return block;
}

export function pbkdf2Sync(password, salt, iterations, keylen, digest) {
  checkString(digest, "digest");
  const key = readBytes(password, "password", KINDS);
  const salted = readBytes(salt, "salt", KINDS);
  checkInteger(iterations, "iterations", 1, MOST_ITERATIONS);
  checkInteger(keylen, "keylen", 0, MOST_ITERATIONS);
  const algorithm = readDigest(digest);
  const blocks = [];
  const count = Math.ceil(keylen / HASH_SIZES[algorithm]);
  for (let index = 1; index <= count; index++) {
    blocks.push(pbkdf2Block(algorithm, key, salted, iterations, index));
  }
  return Buffer.from(joinBytes(blocks).buffer, 0, keylen);
}

export function hkdfSync(digest, ikm, salt, info, length) {
  checkString(digest, "digest");
  const key = readBytes(ikm, "ikm", ["string", "SecretKeyObject", ...HKDF_KINDS.slice(1)]);
  const salted = readBytes(salt, "salt", HKDF_KINDS);
  const context = readBytes(info, "info", HKDF_KINDS);
  checkInteger(length, "length", 0, MOST_LENGTH);
  if (context.length > MOST_INFO) {
    throw outOfRange("info", `must not contain more than ${MOST_INFO} bytes`, context.length);
  }
  const algorithm = readDigest(digest);
  const size = HASH_SIZES[algorithm];
  if (length > MOST_BLOCKS * size) {
    throw withCode(new RangeError("Invalid key length"), "ERR_CRYPTO_INVALID_KEYLEN");
  }
  const extracted = native.hmac(algorithm, salted, key);
  const blocks = [];
  let block = new Uint8Array(0);
  for (let index = 1; blocks.length * size < length; index++) {
    block = native.hmac(algorithm, extracted, joinBytes([block, context, Uint8Array.of(index)]));
    blocks.push(block);
  }
  return joinBytes(blocks).buffer.slice(0, length);
}

export function pbkdf2(password, salt, iterations, keylen, digest, callback) {
  checkString(digest, "digest");
  checkFunction(callback, "callback");
  deliver(pbkdf2Sync(password, salt, iterations, keylen, digest), callback);
}

export function hkdf(digest, ikm, salt, info, length, callback) {
  checkFunction(callback, "callback");
  deliver(hkdfSync(digest, ikm, salt, info, length), callback);
}
