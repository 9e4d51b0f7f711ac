// Cases of the global `crypto` and of `node:crypto`.

const hashes = {
  digests: `
    return ["md5", "sha1", "sha256", "sha384", "sha512", "MD5", "SHA-256", "sha-1", "RSA-SHA256",
    "sha2-512"].map((a) => c.createHash(a).update("hello").digest("hex"));`,
  "digest encodings": `
    return ["hex", "base64", "base64url", "latin1", "binary", "HEX",
    "utf8"].map((e) => c.createHash("sha1").update("x").digest(e));`,
  "digest buffer": `
    const d = c.createHash("md5").update("x").digest(); return [Buffer.isBuffer(d), d.length,
    d.toString("hex")];`,
  "digest unknown encoding": `
    return [Buffer.isBuffer(c.createHash("md5").digest("foo")),
    Buffer.isBuffer(c.createHash("md5").digest("buffer")), Buffer.isBuffer(c.createHash("md5").digest(5))];`,
  updates: `
    return c.createHash("sha256").update("a").update(Buffer.from("b")).update(new Uint16Array([99])).update(new DataView(new ArrayBuffer(1))).update("").digest("hex");`,
  "update encodings": `
    return ["utf8", "latin1", "hex", "base64", "ucs2", "foo",
    undefined].map((e) => c.createHash("md5").update("61ä0", e).digest("hex"));`,
  "update copies": `
    const u = new Uint8Array([1]); const h = c.createHash("md5").update(u); u[0] = 2; return h.digest("hex");`,
  "update odd hex": `c.createHash("md5").update("616", "hex");`,
  "update number": `c.createHash("md5").update(5);`,
  "update nothing": `c.createHash("md5").update();`,
  "update array buffer": `c.createHash("md5").update(new ArrayBuffer(1));`,
  "update after digest": `const h = c.createHash("md5"); h.digest(); h.update("a");`,
  "digest twice": `const h = c.createHash("md5"); h.digest(); h.digest();`,
  copy: `
    const h = c.createHash("md5").update("a"); const k = h.copy(); k.update("b"); return [h.digest("hex"),
    k.digest("hex")];`,
  "copy after digest": `const h = c.createHash("md5"); h.digest(); h.copy();`,
  "unknown algorithm": `c.createHash("foo");`,
  "no algorithm": `c.createHash();`,
  "algorithm number": `c.createHash(5);`,
  instance: `return [c.createHash("md5") instanceof c.Hash, new c.Hash("md5").update("a").digest("hex")];`,
  empty: `return c.createHash("sha512").digest("base64");`,
  long: `return c.createHash("sha256").update("ab".repeat(5e6)).digest("hex");`,
  "many updates": `
    const h = c.createHash("sha1"); for (let i = 0; i < 5000; i++) h.update(String(i));
    return h.digest("hex");`,
  hash: `
    return [c.hash("md5", "a"), c.hash("sha1", Buffer.from("a"), "base64"), Buffer.isBuffer(c.hash("sha256",
    "a", "buffer"))];`,
  "hash unknown": `c.hash("foo", "a");`,
  "hash number": `c.hash("md5", 5);`,
  "hash algorithm number": `c.hash(5, "a");`,
  "hash unknown encoding": `c.hash("md5", "a", "foo");`,
  getHashes: `
    const all = c.getHashes(); return ["md5", "sha1", "sha256", "sha384", "sha512",
    "RSA-SHA256"].map((a) => all.includes(a));`,
  hmac: `
    return ["md5", "sha1", "sha256", "sha384", "SHA512"].map((a) => c.createHmac(a,
    "key").update("hello").digest("hex"));`,
  "hmac keys": `
    return [c.createHmac("sha1", Buffer.from("key")), c.createHmac("sha1", new Uint8Array([1, 2]).buffer),
    c.createHmac("sha1", ""), c.createHmac("sha1", "ä"), c.createHmac("sha1", "x".repeat(200)),
    c.createHmac("sha1", new Uint16Array([300]))].map((h) => h.update("data").digest("hex"));`,
  "hmac encodings": `
    return [c.createHmac("sha256", "k").update("6162", "hex").update("c").digest("base64url"),
    Buffer.isBuffer(c.createHmac("md5", "k").digest())];`,
  "hmac twice": `
    const h = c.createHmac("md5", "k"); return [h.digest("hex"), h.digest("hex"), h.digest().length];`,
  "hmac update after digest": `const h = c.createHmac("md5", "k"); h.digest(); h.update("a");`,
  "hmac unknown": `c.createHmac("foo", "a");`,
  "hmac no key": `c.createHmac("sha1");`,
  "hmac key number": `c.createHmac("sha1", 5);`,
  "hmac number": `c.createHmac(5, 5);`,
  "hmac update number": `c.createHmac("sha1", "a").update(5);`,
  timingSafeEqual: `
    return [c.timingSafeEqual(Buffer.from("a"), Buffer.from("a")), c.timingSafeEqual(Buffer.from("a"),
    Buffer.from("b")), c.timingSafeEqual(new ArrayBuffer(2), new Uint16Array(1))];`,
  "timingSafeEqual lengths": `c.timingSafeEqual(Buffer.from("a"), Buffer.from("ab"));`,
  "timingSafeEqual string": `c.timingSafeEqual("a", Buffer.from("ab"));`,
  "timingSafeEqual second": `c.timingSafeEqual(Buffer.from("a"), 5);`,
};
const derived = {
  pbkdf2Sync: `
    return ["md5", "sha1", "sha256", "sha512"].map((d) => [1, 2, 1000].map((n) =>
      c.pbkdf2Sync("secret", "salt", n, 40, d).toString("hex")));`,
  "pbkdf2Sync kinds": `
    const u = new Uint8Array([1, 2, 3]);
    return [c.pbkdf2Sync(u, Buffer.from("s"), 3, 5, "SHA256"), c.pbkdf2Sync(u.buffer, u, 3, 70, "sha1"),
      c.pbkdf2Sync("", "", 1, 0, "sha1")].map((b) => [Buffer.isBuffer(b), b.toString("hex")]);`,
  pbkdf2: `
    return await new Promise((done) => {
      let isSync = true;
      c.pbkdf2("a", "b", 2, 8, "sha256", (e, k) => done([e, k.toString("hex"), isSync]));
      isSync = false;
    });`,
  "pbkdf2Sync password": `c.pbkdf2Sync(5, "b", 1, 5, "sha1");`,
  "pbkdf2Sync salt": `c.pbkdf2Sync("a", 5, 1, 5, "sha1");`,
  "pbkdf2Sync no iterations": `c.pbkdf2Sync("a", "b", 0, 5, "sha1");`,
  "pbkdf2Sync iterations": `c.pbkdf2Sync("a", "b", "1", 5, "sha1");`,
  "pbkdf2Sync length": `c.pbkdf2Sync("a", "b", 1, -5, "sha1");`,
  "pbkdf2Sync digest": `c.pbkdf2Sync("a", "b", 1, 5, "foo");`,
  "pbkdf2Sync no digest": `c.pbkdf2Sync("a", "b", 1, 5);`,
  "pbkdf2 no callback": `c.pbkdf2("a", "b", 1, 5, "sha1");`,
  "pbkdf2 no digest": `c.pbkdf2("a", "b", 1, 5);`,
  hkdfSync: `
    const hex = (b) => Buffer.from(b).toString("hex");
    return [["sha256", "key", "salt", "info", 5], ["sha512", "key", "", "", 200], ["sha1", "", "", "", 64],
      ["sha256", Buffer.from("k"), new Uint8Array([1]), new ArrayBuffer(2), 33], ["md5", "a", "b", "c", 0]]
      .map((a) => { const k = c.hkdfSync(...a); return [k instanceof ArrayBuffer, hex(k)]; });`,
  hkdf: `
    return await new Promise((done) => c.hkdf("sha256", "k", "s", "i", 8, (e, k) => done([e, k.byteLength])));`,
  "hkdfSync digest": `c.hkdfSync("foo", "key", "salt", "info", 5);`,
  "hkdfSync key": `c.hkdfSync("sha256", 5, "salt", "info", 5);`,
  "hkdfSync info": `c.hkdfSync("sha256", "a", "s", 5, 5);`,
  "hkdfSync length": `c.hkdfSync("sha256", "a", "s", "i", -5);`,
  "hkdfSync long": `c.hkdfSync("sha256", "a", "s", "i", 1e5);`,
  "hkdfSync long info": `c.hkdfSync("sha256", "a", "s", "i".repeat(1025), 5);`,
  "hkdf no callback": `c.hkdf("sha256", "a", "s", "i", 5);`,
};
const randoms = {
  randomBytes: `
    const a = c.randomBytes(16), b = c.randomBytes(16); return [Buffer.isBuffer(a), a.length, a.equals(b),
    c.randomBytes(0).length, c.randomBytes(1.5).length];`,
  "randomBytes callback": `
    return await new Promise((done) => { let sync = true; const r = c.randomBytes(4, (e, b) => done([e,
    b.length, sync, r === undefined])); sync = false; });`,
  "randomBytes negative": `c.randomBytes(-1);`,
  "randomBytes string": `c.randomBytes("5");`,
  "randomBytes large": `c.randomBytes(2 ** 31);`,
  "randomBytes bad callback": `c.randomBytes(5, 5);`,
  "randomBytes nothing": `c.randomBytes();`,
  randomInt: `
    return Array.from({ length: 200 },
    () => c.randomInt(3)).every((n) => n >= 0 && n < 3 && Number.isInteger(n)) && Array.from({ length: 200 },
    () => c.randomInt(-5, 5)).every((n) => n >= -5 && n < 5) && c.randomInt(7, 8);`,
  "randomInt all values": `return new Set(Array.from({ length: 500 }, () => c.randomInt(1, 4))).size;`,
  "randomInt callback": `
    return await new Promise((done) => c.randomInt(5, 6, (e, n) => done([e, n]))).then(async (x) => [x,
    await new Promise((done) => c.randomInt(1, (e, n) => done([e, n])))]);`,
  "randomInt empty": `c.randomInt(5, 5);`,
  "randomInt string": `c.randomInt("5");`,
  "randomInt zero": `c.randomInt(0);`,
  "randomInt fraction": `c.randomInt(1.5);`,
  "randomInt wide": `c.randomInt(0, 2 ** 48);`,
  "randomInt bad callback": `c.randomInt(1, 2, 3);`,
  "randomInt nothing": `c.randomInt();`,
  "randomInt bad max": `c.randomInt(1, "2");`,
  "randomInt bad min": `c.randomInt("1", 2);`,
  randomFillSync: `
    const b = Buffer.alloc(64); const r = c.randomFillSync(b, 32); return [r === b, b.subarray(0,
    32).every((x) => x === 0), b.subarray(32).some((x) => x > 0)];`,
  "randomFillSync part": `
    const b = new Uint16Array(40); c.randomFillSync(b, 10, 20); return [b.slice(0, 10).every((x) => x === 0),
    b.slice(30).every((x) => x === 0), b.slice(10, 30).some((x) => x > 0)];`,
  "randomFillSync number": `c.randomFillSync(5);`,
  "randomFillSync offset": `c.randomFillSync(Buffer.alloc(3), 5);`,
  "randomFillSync size": `c.randomFillSync(Buffer.alloc(3), 1, 5);`,
  randomFill: `
    return await new Promise((done) => c.randomFill(Buffer.alloc(5), (e, b) => done([e, b.length])));`,
  randomUUID: `
    const u = c.randomUUID();
    return [/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(u),
    u === c.randomUUID(), typeof c.randomUUID({ disableEntropyCache: true })];`,
  "randomUUID number": `c.randomUUID(5);`,
  "randomUUID option": `c.randomUUID({ disableEntropyCache: 5 });`,
  names: `
    return [c.webcrypto === globalThis.crypto, c.subtle === globalThis.crypto.subtle,
    typeof c.getRandomValues(new Uint8Array(1))[0], require("crypto") === c,
    (await import("node:crypto")).createHash === c.createHash];`,
};
const web = {
  getRandomValues: `
    const a = new Uint32Array(8); return [crypto.getRandomValues(a) === a, a.some((x) => x > 0),
    crypto.getRandomValues(new BigInt64Array(2)).length,
    crypto.getRandomValues(new Uint8ClampedArray(3)).length,
    crypto.getRandomValues(new Uint8Array(65536)).length];`,
  "getRandomValues number": `crypto.getRandomValues(5);`,
  "getRandomValues nothing": `crypto.getRandomValues();`,
  "getRandomValues float": `crypto.getRandomValues(new Float32Array(1));`,
  "getRandomValues view": `crypto.getRandomValues(new DataView(new ArrayBuffer(1)));`,
  "getRandomValues long": `crypto.getRandomValues(new Uint8Array(65537));`,
  "getRandomValues wrong this": `crypto.getRandomValues.call({}, new Uint8Array(1));`,
  "getRandomValues error": `
    try { crypto.getRandomValues(1); } catch (e) { return [e instanceof DOMException, e.constructor.name,
    String(e)]; }`,
  randomUUID: `return crypto.randomUUID().length;`,
  classes: `
    return [String(crypto), String(crypto.subtle), Crypto.name, SubtleCrypto.name, CryptoKey.name,
    crypto instanceof Crypto, Object.keys(crypto)];`,
  "new Crypto": `new Crypto();`,
  "new SubtleCrypto": `new SubtleCrypto();`,
  "new CryptoKey": `new CryptoKey();`,
  "subtle wrong this": `Object.getOwnPropertyDescriptor(Crypto.prototype, "subtle").get.call({});`,
  digest: `
    return await Promise.all(["SHA-1", "SHA-256", "SHA-384", "SHA-512", "sha-256",
    { name: "SHA-1" }].map(async (a) => hex(await crypto.subtle.digest(a, data))));`,
  "digest of kinds": `
    return await Promise.all([data.buffer, new Uint16Array(2), new DataView(new ArrayBuffer(1)),
    Buffer.from("a"), data.subarray(1)].map(async (a) => hex(await crypto.subtle.digest("SHA-1", a))));`,
  "digest result": `return (await crypto.subtle.digest("SHA-1", data)) instanceof ArrayBuffer;`,
  "digest unknown": `await crypto.subtle.digest("foo", data);`,
  "digest number": `await crypto.subtle.digest(5, data);`,
  "digest no name": `await crypto.subtle.digest({}, data);`,
  "digest nothing": `await crypto.subtle.digest();`,
  "digest one argument": `await crypto.subtle.digest("SHA-1");`,
  "digest string": `await crypto.subtle.digest("SHA-1", "abc");`,
  "digest null": `await crypto.subtle.digest("SHA-1", null);`,
  "digest wrong this": `await crypto.subtle.digest.call({}, "SHA-1", data);`,
  "digest md5": `await crypto.subtle.digest("MD5", data);`,
  "digest does not throw at once": `
    const p = crypto.subtle.digest("foo", data); p.catch(() => {}); return p instanceof Promise;`,
  key: `
    const k = await key(); return [k.type, k.extractable, k.algorithm, k.usages, String(k),
    k instanceof CryptoKey, Object.keys(k)];`,
  sign: `
    return [hex(await crypto.subtle.sign("HMAC", await key(), data)),
    hex(await crypto.subtle.sign({ name: "hmac" }, await key("SHA-512"), data))];`,
  verify: `
    const k = await key(); const s = await crypto.subtle.sign("HMAC", k, data);
    return [await crypto.subtle.verify("HMAC", k, s, data), await crypto.subtle.verify("HMAC", k, s,
    new Uint8Array(1)), await crypto.subtle.verify("HMAC", k, new Uint8Array(2), data)];`,
  "import jwk": `
    const k = await crypto.subtle.importKey("jwk", { kty: "oct", k: "a2V5" }, { name: "HMAC",
    hash: "SHA-256" }, true, ["sign"]); return [hex(await crypto.subtle.sign("HMAC", k, data)), k.algorithm];`,
  export: `
    const k = await key(); return [hex(await crypto.subtle.exportKey("raw", k)),
    await crypto.subtle.exportKey("jwk", k)];`,
  "export kept key": `
    const k = await crypto.subtle.importKey("raw", data, { name: "HMAC", hash: "SHA-1" }, false, ["sign"]);
    await crypto.subtle.exportKey("raw", k);`,
  generate: `
    const k = await crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-512" }, true, ["verify", "sign"]);
    return [k.algorithm.length, k.algorithm.hash, k.usages, (await crypto.subtle.exportKey("raw",
    k)).byteLength];`,
  "generate without usage": `await crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-512" }, true, []);`,
  "generate odd length": `
    await crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-512", length: 100 }, true, ["sign"]);`,
  "import without hash": `await crypto.subtle.importKey("raw", data, "HMAC", true, ["sign"]);`,
  "import unknown hash": `
    await crypto.subtle.importKey("raw", data, { name: "HMAC", hash: "foo" }, true, ["sign"]);`,
  "import unknown": `await crypto.subtle.importKey("raw", data, { name: "foo" }, true, ["sign"]);`,
  "import wrong usage": `
    await crypto.subtle.importKey("raw", data, { name: "HMAC", hash: "SHA-1" }, true, ["encrypt"]);`,
  "import unknown usage": `
    await crypto.subtle.importKey("raw", data, { name: "HMAC", hash: "SHA-1" }, true, ["foo"]);`,
  "import no usage": `await crypto.subtle.importKey("raw", data, { name: "HMAC", hash: "SHA-1" }, true, []);`,
  "import unknown format": `
    await crypto.subtle.importKey("foo", data, { name: "HMAC", hash: "SHA-1" }, true, ["sign"]);`,
  "import string": `
    await crypto.subtle.importKey("raw", "x", { name: "HMAC", hash: "SHA-1" }, true, ["sign"]);`,
  "import empty": `
    await crypto.subtle.importKey("raw", new Uint8Array(0), { name: "HMAC", hash: "SHA-1" }, true, ["sign"]);`,
  "sign with a key to verify": `
    const k = await crypto.subtle.importKey("raw", data, { name: "HMAC", hash: "SHA-1" }, false, ["verify"]);
    await crypto.subtle.sign("HMAC", k, data);`,
  "sign without key": `await crypto.subtle.sign("HMAC", 5, data);`,
  "sign string": `await crypto.subtle.sign("HMAC", await key(), "a");`,
  "sign too few": `await crypto.subtle.sign("HMAC", await key());`,
  "sign unknown": `await crypto.subtle.sign("foo", await key(), data);`,
};
const WEB = `
  const hex = (b) => Buffer.from(b).toString("hex"); const data = new TextEncoder().encode("hello");
  const key = (hash = "SHA-256") => crypto.subtle.importKey("raw", new TextEncoder().encode("key"),
  { name: "HMAC", hash }, true, ["verify", "sign"]); `;

export default [
  ...Object.entries({ ...hashes, ...derived, ...randoms }).map(([name, code]) => ({
    name,
    code: `const c = require("node:crypto"); ${code}`,
  })),
  ...Object.entries(web).map(([name, code]) => ({ name: `web ${name}`, code: WEB + code })),
];
