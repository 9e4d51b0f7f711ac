// `node:crypto`: hashes, keyed hashes and random values; the global `crypto` is its `webcrypto`.

import { Hash, Hmac, createHash, createHmac, getHashes, hash, timingSafeEqual } from "./crypto_hash.js";
import { randomBytes, randomFill, randomFillSync, randomInt, randomUUID } from "./crypto_random.js";
import { Crypto, CryptoKey, SubtleCrypto, crypto } from "./crypto_web.js";

const getRandomValues = (array) => crypto.getRandomValues(array);

export { Crypto, CryptoKey, SubtleCrypto, crypto };

export default {
  createHash,
  createHmac,
  getHashes,
  getRandomValues,
  Hash,
  hash,
  Hmac,
  prng: randomBytes,
  pseudoRandomBytes: randomBytes,
  randomBytes,
  randomFill,
  randomFillSync,
  randomInt,
  randomUUID,
  rng: randomBytes,
  subtle: crypto.subtle,
  timingSafeEqual,
  webcrypto: crypto,
};
