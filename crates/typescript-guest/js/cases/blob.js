// Cases of `Blob` and `File`.

const cases = {
  "of parts": `
    const x = new Blob(["aä", new Uint8Array([98, 99]), new Uint16Array([100]).buffer, new Blob(["z"]), 5,
    null, { toString: () => "o" }]); return [x.size, await x.text(), x.type];`,
  "of nothing": `
    const x = new Blob(); return [x.size, x.type, await x.text(), (await x.arrayBuffer()).byteLength];`,
  "of a set": `return await new Blob(new Set(["a", "b"])).text();`,
  "of a typed array": `return await new Blob(new Uint8Array([1, 23])).text();`,
  "of a number": `new Blob(5);`,
  "of a string": `new Blob("abc");`,
  "of null": `new Blob(null);`,
  "options number": `new Blob([], 5);`,
  "options null": `return new Blob([], null).size;`,
  endings: `
    return [await new Blob(["a\\r\\nb\\rc\\n"], { endings: "native" }).text(), await new Blob(["a\\r\\nb"],
    { endings: "transparent" }).text()];`,
  "bad endings": `new Blob([], { endings: "x" });`,
  type: `
    return [new Blob([], { type: "Text/PLAIN;charset=UTF-8" }).type, new Blob([], { type: "\\u00e4" }).type,
    new Blob([], { type: 5 }).type, new Blob([], { type: "a\\nb" }).type];`,
  arrayBuffer: `
    const x = await new Blob(["abc"]).arrayBuffer(); return [x instanceof ArrayBuffer,
    [...new Uint8Array(x)]];`,
  "bytes are copied": `
    const u = new Uint8Array([97]); const x = new Blob([u]); u[0] = 98; return await x.text();`,
  slice: `
    const x = new Blob(["abcdef"], { type: "a/b" }); return await Promise.all([[1, 3], [-2], [2], [4, 2], [0,
    -1], [], [1, 3, "X/Y"], [99], [undefined, 2]].map(async (a) => { const s = x.slice(...a);
    return [await s.text(), s.type, s.size]; }));`,
  "slice of slice": `return await new Blob(["abcdef"]).slice(1, 5).slice(1, 3).text();`,
  "text malformed": `return await new Blob([new Uint8Array([0xff, 97, 0xc3])]).text();`,
  "text BOM": `return [...await new Blob(["\\ufeffa"]).text()].length;`,
  surrogates: `return (await new Blob(["\\ud800"]).text()).codePointAt(0);`,
  tag: `return [String(new Blob()), Blob.name, Blob.length, Object.keys(new Blob())];`,
  "read only": `const x = new Blob(); try { x.size = 4; } catch {} return x.size;`,
  "without new": `try { Blob(); } catch (e) { return e.name; }`,
  "size wrong this": `Object.getOwnPropertyDescriptor(Blob.prototype, "size").get.call({});`,
  file: `
    const f = new File(["ab", "c"], "n.txt", { type: "Text/Plain", lastModified: 5 }); return [f.name, f.size,
    f.type, f.lastModified, await f.text(), f instanceof Blob, String(f)];`,
  "file now": `
    const t = Date.now(); const m = new File([], "a").lastModified; return m >= t && m <= t + 5000;`,
  "file names": `
    return [new File([], 5).name, new File([], undefined).name, new File([], "a/b").name, new File([], "x",
    { lastModified: "7" }).lastModified, new File([], "x", { lastModified: NaN }).lastModified, new File([],
    "x", { lastModified: 1.9 }).lastModified];`,
  "file no argument": `new File();`,
  "file no name": `new File([]);`,
  "file slice": `
    const s = new File(["abc"], "n").slice(1);
    return [s instanceof Blob, s instanceof File, await s.text()];`,
  long: `const x = new Blob(Array(1000).fill("ab".repeat(1000))); return [x.size, (await x.text()).length];`,
};

export default Object.entries(cases).map(([name, code]) => ({
  name,
  code: `const { File } = require("node:buffer"); ${code}`,
}));
