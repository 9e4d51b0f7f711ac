// `node:crypto`: hashes, keyed hashes and random values; the global `crypto` is its `webcrypto`.

import { hkdf, hkdfSync, pbkdf2, pbkdf2Sync } from "./crypto_derive.js";
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
  hkdf,
  hkdfSync,
  Hmac,
  pbkdf2,
  pbkdf2Sync,
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
