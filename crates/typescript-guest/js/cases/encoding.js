// Cases of `TextEncoder`, `TextDecoder`, `atob` and `btoa`.

const literal = JSON.stringify;
/** If the message is the engine's own, only the error's class counts. */
const named = (code) => `try { ${code} } catch (e) { return e.name; }`;
const BYTES = `const b = (...x) => new Uint8Array(x); `;

const encoder = {
  encode: `
    return ["", "abc", "äöü€", "\\u{1f600}", "\\ufeffa", "\\0"].map((t) => [...new TextEncoder().encode(t)]);`,
  "encode surrogates": `
    return ["\\ud800", "a\\udc00b", "\\udc00\\ud800",
    "\\ud800\\ud800\\udc00"].map((t) => [...new TextEncoder().encode(t)]);`,
  "encode other values": `
    return [undefined, null, 12, {}, [1,
    2]].map((t) => new TextDecoder().decode(new TextEncoder().encode(t)));`,
  "encode nothing": `
    const e = new TextEncoder(); return [e.encode().length, e.encode() instanceof Uint8Array, e.encoding];`,
  "encode symbol": named(`new TextEncoder().encode(Symbol("x"));`),
  "encode long": `return new TextEncoder().encode("aä€".repeat(1e6)).length;`,
  "encode wrong this": `TextEncoder.prototype.encode.call({});`,
  "encoding wrong this": `Object.getOwnPropertyDescriptor(TextEncoder.prototype, "encoding").get.call({});`,
  encodeInto: `
    const d = new Uint8Array(8); const e = new TextEncoder();
    return ["abc", "äöü€", "12345678", "1234567ä", "123456789", "\\u{1f600}\\u{1f600}\\u{1f600}",
    "\\u{1f600}x\\u{1f600}y", ""]
    .map((t) => { d.fill(0); return [e.encodeInto(t, d), [...d]]; });`,
  "encodeInto surrogates": `
    const e = new TextEncoder();
    return [1, 2, 3, 4, 5, 6, 7].map((n) => { const d = new Uint8Array(n);
    return [e.encodeInto("\\u{1f600}\\ud800a", d), [...d]]; });`,
  "encodeInto pair cut": `
    const e = new TextEncoder();
    return [1, 2, 3, 4, 5, 6].map((n) => { const d = new Uint8Array(n); return [e.encodeInto("ab\\u{1f600}",
    d), [...d]]; });`,
  "encodeInto lone high": `
    const e = new TextEncoder();
    return [1, 2, 3, 4, 5].map((n) => { const d = new Uint8Array(n); return [e.encodeInto("a\\ud800b", d),
    [...d]]; });`,
  "encodeInto empty": `return new TextEncoder().encodeInto("abc", new Uint8Array(0));`,
  "encodeInto part": `
    const d = new Uint8Array(6); new TextEncoder().encodeInto("abcdef", d.subarray(2, 4)); return [...d];`,
  "encodeInto long": `return new TextEncoder().encodeInto("ä".repeat(3e6), new Uint8Array(11));`,
  "encodeInto no string": `new TextEncoder().encodeInto(1, new Uint8Array(1));`,
  "encodeInto no bytes": `new TextEncoder().encodeInto("a", [1]);`,
  "encodeInto other view": `new TextEncoder().encodeInto("a", new Uint16Array(1));`,
  tags: `
    return [String(new TextEncoder()), String(new TextDecoder()), Object.keys(TextEncoder.prototype).sort(),
    Object.keys(TextDecoder.prototype).sort()];`,
};
const decoder = {
  decode: `return new TextDecoder().decode(b(97, 0xc3, 0xa4, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0));`,
  "decode malformed": `
    return [[0xff], [0xc3], [0xc3, 0x41], [0xe2, 0x82], [0xe2, 0x82, 0x41], [0xf0, 0x9f, 0x98], [0xed, 0xa0,
    0x80], [0xc0, 0x80],
    [0xf5, 0x80, 0x80, 0x80], [0xe0, 0x80, 0x80], [0x80], [0xf0, 0x80, 0x80, 0x80], [0xf4, 0x90, 0x80, 0x80],
    [0x61, 0xe2, 0x28, 0xa1]]
    .map((x) => new TextDecoder().decode(new Uint8Array(x)));`,
  "decode views": `
    const x = b(97, 98, 99, 100, 101, 102, 103, 104);
    return [x, x.buffer, x.subarray(2, 4), new DataView(x.buffer, 1, 2), new Uint16Array(x.buffer, 2, 2),
    new SharedArrayBuffer(2)]
    .map((v) => new TextDecoder().decode(v));`,
  "decode nothing": `
    return [new TextDecoder().decode(), new TextDecoder().decode(undefined), new TextDecoder().decode(b())];`,
  "decode string": `new TextDecoder().decode("a");`,
  "decode null": `new TextDecoder().decode(null);`,
  "decode array": `new TextDecoder().decode([97]);`,
  "decode wrong this": `TextDecoder.prototype.decode.call({});`,
  "BOM removed": `return new TextDecoder().decode(b(0xef, 0xbb, 0xbf, 97, 0xef, 0xbb, 0xbf));`,
  "BOM kept": `return new TextDecoder("utf-8", { ignoreBOM: true }).decode(b(0xef, 0xbb, 0xbf, 97));`,
  "BOM in stream": `
    const d = new TextDecoder(); const o = { stream: true };
    return [d.decode(b(0xef), o), d.decode(b(0xbb), o), d.decode(b(0xbf, 97), o), d.decode(b(0xef, 0xbb,
    0xbf), o), d.decode(),
    d.decode(b(0xef, 0xbb, 0xbf, 98))];`,
  fatal: `new TextDecoder("utf-8", { fatal: true }).decode(b(0xff));`,
  "fatal unfinished": `new TextDecoder("utf-8", { fatal: true }).decode(b(97, 0xc3));`,
  "fatal good": `
    const d = new TextDecoder("utf-8", { fatal: true }); return [d.decode(b(0xc3, 0xa4)), d.fatal,
    d.ignoreBOM, d.encoding];`,
  "fatal stream": `
    const d = new TextDecoder("utf-8", { fatal: true }); const o = { stream: true };
    const r = [d.decode(b(0xc3), o), d.decode(b(0xa4, 0xe2), o), d.decode(b(0x82), o), d.decode(b(0xac), o),
    d.decode()];
    try { d.decode(b(0xe2), o); d.decode(); } catch (e) { r.push(e.code); }
    return r;`,
  stream: `
    const d = new TextDecoder(); const all = new TextEncoder().encode("aä€\\u{1f600}b"); const r = [];
    for (const x of all) r.push(d.decode(b(x), { stream: true }));
    r.push(d.decode()); return r;`,
  "stream malformed": `
    const d = new TextDecoder(); const o = { stream: true };
    return [d.decode(b(0xe2), o), d.decode(b(0x41), o), d.decode(b(0xe0), o), d.decode(b(0x80), o),
    d.decode(b(0xf0, 0x9f), o), d.decode()];`,
  "stream ends": `
    const d = new TextDecoder(); return [d.decode(b(0xc3), { stream: true }), d.decode(b(0x28)),
    d.decode(b(0xa4))];`,
  "utf-16le": `
    const d = new TextDecoder("utf-16le");
    return [b(97, 0, 0xe4, 0), b(0x3d, 0xd8, 0x00, 0xde), b(0xff, 0xfe, 97, 0), b(97), b(97, 0, 98), b(0x00,
    0xd8), b(0x00, 0xdc, 97, 0), b(0x00, 0xd8, 97, 0), b(97, 0, 0x00, 0xd8, 1)]
    .map((x) => d.decode(x));`,
  "utf-16le stream": `
    const d = new TextDecoder("utf-16le"); const o = { stream: true };
    return [d.decode(b(0x3d), o), d.decode(b(0xd8, 0x00), o), d.decode(b(0xde, 97), o), d.decode(b(0), o),
    d.decode()];`,
  "utf-16le fatal": `return new TextDecoder("utf-16le", { fatal: true }).decode(b(97, 0));`,
  "utf-16le fatal odd": `new TextDecoder("utf-16le", { fatal: true }).decode(b(97));`,
  "utf-16le fatal surrogate": `new TextDecoder("utf-16le", { fatal: true }).decode(b(0x00, 0xd8, 97, 0));`,
  "utf-16le keep BOM": `
    return new TextDecoder("utf-16le", { ignoreBOM: true }).decode(b(0xff, 0xfe, 97, 0));`,
  "utf-16be": `return new TextDecoder("utf-16be").decode(b(0xfe, 0xff, 0, 97, 0xd8, 0x3d, 0xde, 0x00));`,
  latin1: `return new TextDecoder("latin1").decode(b(97, 0xe4, 0xff, 0xa0));`,
  "unknown encoding": `new TextDecoder("foo");`,
  "null encoding": `new TextDecoder(null);`,
  "options number": `new TextDecoder("utf-8", 5);`,
  "options null": `return new TextDecoder("utf-8", null).fatal;`,
  "options truthy": `
    const d = new TextDecoder(undefined, { fatal: 1, ignoreBOM: "x" }); return [d.fatal, d.ignoreBOM,
    d.encoding];`,
  "no new": named(`TextDecoder();`),
  long: `const t = new TextDecoder().decode(new Uint8Array(5e6).fill(97)); return [t.length, t.at(-1)];`,
};
const labels = [
  "utf8",
  "UTF-8",
  " utf-8\n",
  "unicode-1-1-utf-8",
  "utf-16",
  "UCS-2",
  "ascii",
  "us-ascii",
  "iso-8859-1",
  "cp1252",
  "windows-1252",
  "l1",
];
const base64 = ["", "YQ==", "YQ", "YWI=", "YWJj", " Y Q\t=\n=\r\f", "YR==", "/+8=", "AAAA"];
const badBase64 = [
  "a",
  "YQ=",
  "YQ===",
  "Y=Q=",
  "=",
  "====",
  "YW$",
  "YWJj=",
  "YWJjZ",
  "-_8=",
  "YQ==YQ==",
  "Y\u00a0Q==",
  "YWJ=",
  "a=",
  "a==",
  "a===",
];
const base = {
  btoa: `return ["", "a", "ab", "abc", "\\xff\\x00", "hello world"].map(btoa);`,
  "btoa values": `return [btoa(null), btoa(12), btoa(undefined), btoa([1, 2])];`,
  "btoa wide": `btoa("a€");`,
  "btoa nothing": `btoa();`,
  "atob nothing": `atob();`,
  "atob null": `return [...atob(null)].map((c) => c.charCodeAt(0));`,
  "atob symbol": named(`atob(Symbol("a"));`),
  "atob error": `
    try { atob("$"); } catch (e) { return [e instanceof DOMException, e instanceof Error, String(e),
    e.constructor.name]; }`,
  "round trip": `const t = String.fromCharCode(...Array(256).keys()); return atob(btoa(t)) === t;`,
  long: `const t = "abc".repeat(1e6); return atob(btoa(t)) === t;`,
};

export default [
  ...Object.entries(encoder).map(([name, code]) => ({ name, code })),
  ...Object.entries(decoder).map(([name, code]) => ({ name: `decoder ${name}`, code: BYTES + code })),
  ...labels.map((label) => ({
    name: `label ${label}`,
    code: `return new TextDecoder(${literal(label)}).encoding;`,
  })),
  ...base64.map((text) => ({
    name: `atob ${literal(text)}`,
    code: `return [...atob(${literal(text)})].map((c) => c.charCodeAt(0));`,
  })),
  ...badBase64.map((text) => ({ name: `atob bad ${literal(text)}`, code: `return atob(${literal(text)});` })),
  ...Object.entries(base).map(([name, code]) => ({ name, code })),
];
