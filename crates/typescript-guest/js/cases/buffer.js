// Cases of `Buffer` and `node:buffer`.

const literal = JSON.stringify;

/** Each expression is one case; a Buffer in the answer becomes its hexadecimal text. */
const SHOW = `
  const plain = (v) => (Buffer.isBuffer(v) ? "<" + v.toString("hex") + ">"
    : typeof v === "bigint" ? v + "n"
    : typeof v === "number" && (!Number.isFinite(v) || Object.is(v, -0)) ? (Object.is(v, -0) ? "-0" : String(v))
    : v instanceof Uint8Array ? [...v] : Array.isArray(v) ? v.map(plain) : v);
  const b = require("node:buffer");
`;

const TEXTS = ["", "abc", "äöü", "€uro", "😀", "\ud800x", "\udc00", "\u0000\u0001ÿ", "YWJj", "YQ", "YQ==", "616263", "6g", "616", "ff FF", "-_8", "+/8=", "Y Q\n=="];
const ENCODINGS = ["utf8", "UTF-8", "ucs2", "utf16le", "UTF-16LE", "latin1", "binary", "ascii", "hex", "base64", "base64url"];

const making = [
  "Buffer.from([1, 2, 300, -1, 1.7, 'x', '5', null, undefined, true])", "Buffer.from([])", "Buffer.from(new Uint8Array([1, 2]))",
  "Buffer.from(new Uint16Array([1, 258]))", "Buffer.from(new Float32Array([1.5, 300, -3]))", "Buffer.from(Buffer.from('ab'))",
  "Buffer.from({ length: 2, 0: 7, 1: 8 })", "Buffer.from({ length: '2' })", "Buffer.from({ length: -1 })", "Buffer.from({ type: 'Buffer', data: [1, 2] })",
  "Buffer.from(JSON.parse(JSON.stringify(Buffer.from('hey'))))", "Buffer.from(new String('abc'))", "Buffer.from(new String('616'), 'hex')",
  "Buffer.from({ [Symbol.toPrimitive]: () => 'abc' })", "Buffer.from({ valueOf: () => [1, 2] })", "Buffer.from({ valueOf: () => 5 })", "Buffer.from(5)", "Buffer.from(null)",
  "Buffer.from()", "Buffer.from({})", "Buffer.from(true)", "Buffer.from(Symbol('s'))", "Buffer.from('a', 'foo')", "Buffer.from('ä', 5)", "Buffer.from('ä', '')",
  "Buffer.from(() => {})", "Buffer.from(new Map())", "Buffer.from(10n)", "Buffer.from(new ArrayBuffer(3), 1)", "Buffer.from(new ArrayBuffer(3), 5)",
  "Buffer.from(new ArrayBuffer(3), 1, 5)", "Buffer.from(new ArrayBuffer(3), NaN, NaN)", "Buffer.from(new ArrayBuffer(3), '1')", "Buffer.from(new ArrayBuffer(3), 1, 1)",
  "Buffer.from(new SharedArrayBuffer(3))", "Buffer.of(1, 2, 257)", "Buffer.of()", "new Buffer(3)", "Buffer(2)", "Buffer('ab')", "new Buffer('6162', 'hex')", "Buffer(5, 'utf8')",
  "Buffer.alloc(3)", "Buffer.alloc(0)", "Buffer.alloc(-1)", "Buffer.alloc('5')", "Buffer.alloc(NaN)", "Buffer.alloc(1e20)", "Buffer.alloc(3.7)", "Buffer.alloc()",
  "Buffer.alloc(5, 'ab')", "Buffer.alloc(5, 'zz', 'hex')", "Buffer.alloc(5, '')", "Buffer.alloc(5, 1, 5)", "Buffer.alloc(5, 'a', 'foo')", "Buffer.alloc(5, 'a', 5)",
  "Buffer.alloc(5, 'YWI=', 'base64')", "Buffer.alloc(5, Buffer.from('xy'))", "Buffer.alloc(3, 257)", "Buffer.alloc(0, 'a')", "Buffer.allocUnsafe(3).length", "Buffer.allocUnsafe(-1)",
  "Buffer.allocUnsafe('a')", "Buffer.allocUnsafeSlow(3).length", "b.SlowBuffer(3).length", "Buffer.concat([Buffer.from('ab'), new Uint8Array([1]), Buffer.alloc(0)])", "Buffer.concat([])",
  "Buffer.concat(5)", "Buffer.concat([1])", "Buffer.concat([Buffer.from('ab')], 1)", "Buffer.concat([Buffer.from('ab'), Buffer.from('cd')], 3)", "Buffer.concat([Buffer.from('ab')], -1)", "Buffer.concat([Buffer.from('ab')], 1.5)",
  "Buffer.concat([Buffer.from('ab')], 5)", "Buffer.concat([Buffer.from('ab'), 'cd'])", "Buffer.concat([Buffer.from('ab')], '1')", "Buffer.concat()",
  "Buffer.compare(Buffer.from('a'), Buffer.from('b'))", "Buffer.compare(Buffer.from('ab'), Buffer.from('a'))", "Buffer.compare(Buffer.from('a'), new Uint8Array([97]))", "Buffer.compare(1, Buffer.alloc(1))",
  "Buffer.compare(Buffer.alloc(1), 1)", "[Buffer.from('b'), Buffer.from('a'), Buffer.from('ab')].sort(Buffer.compare)", "Buffer.isBuffer(Buffer.alloc(1))", "Buffer.isBuffer(new Uint8Array(1))", "Buffer.isBuffer(null)",
  "[Buffer.isEncoding('utf8'), Buffer.isEncoding('UTF-8'), Buffer.isEncoding('Hex'), Buffer.isEncoding('foo'), Buffer.isEncoding(''), Buffer.isEncoding(5), Buffer.isEncoding('base64URL'), Buffer.isEncoding()]",
  "Buffer.byteLength(5)", "Buffer.byteLength(new ArrayBuffer(7))", "Buffer.byteLength(new Uint16Array(2))", "Buffer.byteLength(Buffer.from('ä'))", "Buffer.byteLength('ä', 'foo')", "Buffer.byteLength('ä')", "Buffer.byteLength()",
  "Buffer.byteLength(new DataView(new ArrayBuffer(3)))", "Buffer.copyBytesFrom(new Uint16Array([1, 2, 3]), 1)", "Buffer.copyBytesFrom(new Uint16Array([1, 2, 3]), 0, 2)", "Buffer.copyBytesFrom(new Uint8Array(2), 5)",
  "Buffer.copyBytesFrom(5)", "Buffer.copyBytesFrom(new Uint8Array(2), -1)", "Buffer.copyBytesFrom(new Uint8Array(2), 0, 'a')", "Buffer.poolSize", "Buffer.name + Buffer.length",
];

const using = [
  "x.toString()", "x.toString('hex')", "x.toString('utf8', 1, 3)", "x.toString('utf8', -3, 3)", "x.toString('utf8', '1', '3')", "x.toString('utf8', NaN, 2.7)", "x.toString('utf8', 4, 2)", "x.toString(undefined, 1, null)",
  "x.toString('foo')", "x.toString(5)", "x.toString(null)", "x.toString('utf8', 2)", "x.toString('utf8', 99)", "x.toString('utf8', 0, 99)", "x.toString('utf8', 1.9, 3.9)", "x.toLocaleString()", "`${x}`", "x + ''", "JSON.stringify(x)", "x.toJSON()",
  "[x.slice(2), x.slice(1, 3), x.slice(-2), x.slice(1, -1), x.slice(4, 2), x.slice('1', '3'), x.slice(), x.slice(NaN), x.slice(99), x.slice(-99, 99), x.slice(1.9), x.slice(undefined, 2), x.slice(null, null)]",
  "[x.subarray(2), x.subarray(1, 3), x.subarray(-2), x.subarray(1, -1), x.subarray(4, 2)]", "(() => { const s = x.slice(1, 3); s[0] = 120; return [x, s.buffer === x.buffer, s.parent === x.buffer, Buffer.isBuffer(s), s.offset === s.byteOffset]; })()",
  "[x.length, x.byteLength, x instanceof Uint8Array, Buffer.isBuffer(x.map((v) => v + 1)), x.map((v) => v + 1), x.filter((v) => v > 98), x.constructor === Buffer]", "[...x.entries()]", "[[...x.keys()], [...x.values()], [...x]]",
  "[x.at(-1), x.reverse(), x.find((v) => v > 100), x.join('-')]", "Object.prototype.toString.call(x)", "Object.keys(x)", "[x.equals(Buffer.from('abcdef')), x.equals(Buffer.from('abcdeg')), x.equals(new Uint8Array(6)), x.equals(x), x.equals(Buffer.from('abc'))]",
  "x.equals('abcdef')", "x.equals()", "[x.compare(Buffer.from('abcdef')), x.compare(Buffer.from('b')), x.compare(Buffer.from('a'))]", "x.compare(5)", "x.compare(x, 9)", "x.compare(x, 0, 9)", "x.compare(x, 0, 2, -1)", "x.compare(x, 3, 1)", "x.compare(x, '1')",
  "x.compare(Buffer.from('zcdz'), 1, 3, 2, 4)", "x.compare(x, 0, 6, 3, 3)", "x.compare(x, 1, 1, 3, 3)", "x.compare(x, 0, 6, 0, 9)", "x.compare(x, 1.5)",
  "[x.copy(y), y, x.copy(y, 4), y, x.copy(y, 1, 2, 4), y]", "x.copy(5)", "x.copy(y, -1)", "x.copy(y, 0, -1)", "x.copy(y, 0, 7)", "x.copy(y, 9)", "x.copy(y, 0, 0, -1)", "x.copy(y, 0, 3, 1)", "[x.copy(y, '1', '2'), y]", "x.copy()", "[x.copy(y, NaN, NaN, 2), y]",
  "[x.copy(x, 2, 0, 4), x]", "[x.copy(x, 0, 2), x]", "x.copy(y, 0, 99)", "[x.copy(new Uint8Array(3)), x.copy(y, 0.9, 1.9), y]",
  "x.swap16()", "Buffer.from('abcdefgh').swap32()", "Buffer.from('abcdefgh').swap64()", "x.swap32()", "x.swap64()", "Buffer.from('abc').swap16()", "Buffer.alloc(0).swap64()", "x.subarray(1, 5).swap16()",
  "x.inspect()", "x[Symbol.for('nodejs.util.inspect.custom')]()", "Buffer.alloc(0).inspect()", "Buffer.alloc(50).inspect()", "Buffer.alloc(51).inspect()", "Buffer.alloc(60).inspect()",
  "[x.hexSlice(1, 3), x.utf8Slice(), x.base64Slice(0, 2), x.latin1Slice(2), x.asciiSlice(), x.ucs2Slice()]", "[y.utf8Write('äb', 1), y, y.hexWrite('ff', 0), y, y.latin1Write('é', 5), y]",
];

const writing = [
  "y.write('abc')", "y.write('abc', 2)", "y.write('abc', 1, 2)", "y.write('ä€', 5)", "y.write('ä€', 1, 4)", "y.write('abc', 'latin1')", "y.write('616263', 'hex')", "y.write('616263', 1, 'hex')", "y.write('616263', 1, 2, 'hex')", "y.write('YWJj', 'base64')",
  "y.write('YWJjZGVm', 1, 2, 'base64')", "y.write('ab', 'ucs2')", "y.write('abcdef', 'ucs2')", "y.write('abc', 3, 'ucs2')", "y.write('äöü', 0, 'ascii')", "y.write('😀', 3)", "y.write('😀', 0, 3)", "y.write('')", "y.write(1)", "y.write()", "y.write('abc', 'foo')", "y.write('abc', 7)",
  "y.write('abc', -1)", "y.write('abc', 1, 9)", "y.write('abc', 'utf8', 1)", "y.write('abc', 1.5)", "y.write('abc', undefined, 2)", "y.write('a', null)", "y.write('abc', 6)", "y.write('a', 0, null)", "y.write('6', 'hex')", "y.write('6x', 'hex')", "y.write('a', 1, 1, 5)",
  "y.write('x'.repeat(100), 'latin1')", "y.write('x'.repeat(1e6))", "y.write('\\ud800')", "y.write('ab', 0, 1, '')",
  "y.fill('a')", "y.fill('ab')", "y.fill('ab', 1, 4)", "y.fill(1)", "y.fill(1, 2)", "y.fill(1, 2, 3)", "y.fill('a', 9)", "y.fill('a', 0, 9)", "y.fill('a', -1)", "y.fill('a', 'foo')", "y.fill('')", "y.fill(Buffer.alloc(0))", "y.fill(new Uint8Array([1, 2]))", "y.fill(300.7)", "y.fill(-1)",
  "y.fill(true)", "y.fill({})", "y.fill('é')", "y.fill('é', 'latin1')", "y.fill('6162', 'hex')", "y.fill('6162', 1, 'hex')", "y.fill('616', 1, 4, 'hex')", "y.fill('zz', 'hex')", "y.fill(1, 3, 1)", "y.fill()", "y.fill(1, '1')", "y.fill(null)", "y.fill('a', 0, 2, 5)", "y.fill(1, 1.5)", "y.fill('abcdefghij')",
  "y.fill('\\u0222')", "y.fill('é', 0, 6, 'ucs2')", "y.fill(Buffer.from('xyz'), 1)", "y.fill('YWI', 'base64')", "y.fill('a', undefined, 3)", "y.fill(1, undefined, 3)",
];

const searching = [
  "s.indexOf('c')", "s.indexOf('ca')", "s.indexOf('c', 3)", "s.indexOf('c', -2)", "s.indexOf('z')", "s.indexOf('')", "s.indexOf('', 3)", "s.indexOf('', 99)", "s.indexOf('', -99)", "s.indexOf(99)", "s.indexOf(99.9)", "s.indexOf(97 + 256)", "s.indexOf(-159)", "s.indexOf(97, 1)", "s.indexOf(NaN)",
  "s.indexOf(Buffer.from('bc'))", "s.indexOf(new Uint8Array([98]))", "s.indexOf(new Uint8Array(0), 2)", "s.indexOf({})", "s.indexOf()", "s.indexOf(null)", "s.indexOf(true)", "s.indexOf('a', 0, 'foo')", "s.indexOf('b', '2')", "s.indexOf('b', 'utf8')", "s.indexOf('b', {})", "s.indexOf('b', -1)",
  "s.indexOf('b', null)", "s.indexOf('b', 1.9)", "s.indexOf('6263', 0, 'hex')", "s.indexOf('6263', 'hex')", "s.indexOf('YmM=', 0, 'base64')", "s.indexOf('b', Infinity)", "s.indexOf('b', -Infinity)", "s.indexOf('b', NaN)", "s.indexOf('b', [])", "s.indexOf('abcabcabcx')",
  "s.lastIndexOf('c')", "s.lastIndexOf('ab')", "s.lastIndexOf('ab', 5)", "s.lastIndexOf('ab', 2)", "s.lastIndexOf('ab', -7)", "s.lastIndexOf('ab', -99)", "s.lastIndexOf('')", "s.lastIndexOf('', 2)", "s.lastIndexOf('', -99)", "s.lastIndexOf('', 99)", "s.lastIndexOf('ab', null)", "s.lastIndexOf('ab', undefined)",
  "s.lastIndexOf('ab', NaN)", "s.lastIndexOf('ab', {})", "s.lastIndexOf(97)", "s.lastIndexOf(97, 5)", "s.lastIndexOf(Buffer.from('bc'), -4)", "s.lastIndexOf('z')", "s.lastIndexOf('ab', 99)", "s.lastIndexOf('ab', 8)", "s.lastIndexOf(97, -99)", "s.lastIndexOf(97, '3')", "s.lastIndexOf('ab', 'latin1')",
  "s.includes('bc')", "s.includes('bc', 8)", "s.includes('z')", "s.includes('')", "s.includes(97, 7)", "s.includes({})", "s.includes('ä')",
  "Buffer.from('xäxöx').indexOf('ö')", "Buffer.from('xäxöx', 'latin1').indexOf('ö', 0, 'latin1')", "Buffer.from('xäxöx', 'latin1').indexOf('ö')", "Buffer.from('abcb', 'ucs2').indexOf('b', 0, 'ucs2')", "Buffer.from('abcb', 'ucs2').indexOf('b', 3, 'ucs2')", "Buffer.from('abcb', 'ucs2').lastIndexOf('b', 'ucs2')",
  "Buffer.from([0, 97, 0, 97, 0]).indexOf('a', 0, 'ucs2')", "Buffer.from([0, 97, 0, 97, 0]).indexOf('a')", "Buffer.from('aaaa', 'ucs2').lastIndexOf('a', 5, 'ucs2')", "Buffer.alloc(0).indexOf('a')", "Buffer.alloc(0).lastIndexOf('')", "Buffer.alloc(0).lastIndexOf('a')",
];

const n = "Buffer.from([0x81, 0x02, 0x83, 0x04, 0x85, 0x06, 0x87, 0x88, 0x09])";
const reading = [];
for (const order of ["LE", "BE"]) {
  for (const kind of ["Int16", "UInt16", "Int32", "UInt32", "Uint32", "Float", "Double", "BigInt64", "BigUInt64", "BigUint64"]) {
    reading.push(`[n.read${kind}${order}(), n.read${kind}${order}(1)]`);
    reading.push(`[y.fill(255).write${kind}${order}(${kind.startsWith("Big") ? "12345678901n" : kind === "Float" || kind === "Double" ? -1.1 : 12345}, ${/Double|64/.test(kind) ? 0 : 2}), y]`);
  }
  reading.push(`[1, 2, 3, 4, 5, 6].map((k) => [n.readUInt${order}(1, k), n.readInt${order}(2, k), n.readUint${order}(0, k)])`);
  reading.push(`[1, 2, 3, 4, 5, 6].map((k) => [z.writeUInt${order}(2 ** (8 * k) - 2, 1, k), Buffer.from(z), z.writeInt${order}(-(2 ** (8 * k - 1)), 0, k), Buffer.from(z), z.writeInt${order}(-5, 2, k), Buffer.from(z)])`);
}
const limits = [
  "n.readUInt8(2)", "n.readInt8(0)", "n.readUint8()", "n.readUInt8(9)", "n.readUInt8('1')", "n.readUInt8(1.5)", "n.readUInt8(NaN)", "n.readUInt8(-1)", "n.readUInt8(null)", "n.readUInt32LE(6)", "n.readUInt32LE(Infinity)", "y.subarray(0, 1).readUInt32LE(0)", "n.readUIntLE()", "n.readUIntLE(0)", "n.readUIntLE(0, 7)",
  "n.readUIntLE(0, 0)", "n.readUIntLE(0, '3')", "n.readUIntLE(7, 3)", "n.readUIntLE(undefined, 2)", "n.readIntBE(0, 1.5)", "n.readIntBE(-1, 2)", "n.readIntLE('0', 2)", "y.readDoubleLE()", "n.readBigInt64LE(2)", "n.readBigInt64LE('1')", "n.readFloatBE(99)", "y.readBigUInt64BE()",
  "y.writeUInt8(256)", "y.writeUInt8(-1)", "y.writeUInt8(255.5)", "[y.writeUInt8(255), y]", "y.writeInt8(-129)", "y.writeInt8(128)", "[y.writeInt8(-128), y]", "y.writeUInt16LE(65536)", "y.writeInt16BE(-32769)", "y.writeUInt32LE(2 ** 32)", "y.writeUInt32LE(-1)", "y.writeInt32LE(2 ** 31)", "z.writeUIntLE(2 ** 48, 0, 6)",
  "z.writeUIntBE(-1, 0, 5)", "z.writeIntLE(2 ** 40, 0, 5)", "z.writeIntLE(-(2 ** 47) - 1, 0, 6)", "z.writeIntLE(2 ** 40, 0, 3)", "z.writeUIntLE(256, 0, 1)", "z.writeBigUInt64LE(2n ** 64n)", "z.writeBigUInt64LE(-1n)", "z.writeBigInt64LE(2n ** 63n)", "z.writeBigInt64BE(-(2n ** 63n) - 1n)", "[z.writeBigInt64BE(-(2n ** 63n)), z]",
  "[y.writeUInt8('7', 0), y]", "[y.fill(9).writeUInt8('x', 0), y]", "[y.fill(9).writeUInt8(), y]", "y.writeUInt8(1, 9)", "[y.writeUInt8(1.7), y]", "[y.writeInt16LE(-1.7), y]", "y.writeUInt32LE(1, 4)", "y.writeUInt32LE(1, -1)", "y.writeUIntLE(1)", "y.writeUIntLE(1, 0)", "y.writeUIntLE(1, 0, 9)", "y.writeUIntLE(1, undefined, 2)", "y.writeUIntLE(1, 5, 2)",
  "[y.writeFloatLE('x'), y]", "y.writeDoubleLE(1)", "y.writeUInt8(1, '0')", "y.writeUInt16LE(1, '0')", "y.writeUInt8(1, null)", "[y.writeUInt8(null), y]", "[y.writeUInt8(true), y]", "y.writeFloatLE(1, 3)", "y.writeInt32BE(1, 1.5)", "[z.writeDoubleBE(Infinity), z.readDoubleBE(), z.writeDoubleLE(-0), z.readDoubleLE(), z.writeFloatBE(1e300), z.readFloatBE(), z.writeFloatLE(0.1), z.readFloatLE()]",
  "[z.writeDoubleLE(NaN), z.readDoubleLE()]", "[z.writeUInt32BE(0xdeadbeef), z.readInt32BE(), z.readUInt32BE().toString(16)]", "y.writeUInt8(Infinity)", "[y.fill(9).writeUInt8(NaN), y]", "y.writeUInt16LE(-1, 99)", "y.writeUInt16LE(1, 99)",
];

const module = [
  "Object.keys(b)", "[b.kMaxLength, b.kStringMaxLength, b.constants, b.INSPECT_MAX_BYTES, b.Buffer === Buffer, b.Blob === Blob, b.atob === atob, b.File.name]",
  "b.transcode(Buffer.from('é€'), 'utf8', 'latin1')", "b.transcode(Buffer.from('é€'), 'utf8', 'ascii')", "b.transcode(Buffer.from('é'), 'utf8', 'ucs2')", "b.transcode(Buffer.from('é', 'ucs2'), 'ucs2', 'utf8')", "b.transcode(Buffer.from('é', 'latin1'), 'latin1', 'utf8')", "b.transcode(Buffer.from('é'), 'utf8', 'foo')", "b.transcode(5, 'utf8', 'latin1')",
  "[b.isUtf8(Buffer.from('ä€')), b.isUtf8(Buffer.from([255])), b.isUtf8(new ArrayBuffer(2)), b.isAscii(Buffer.from('abc')), b.isAscii(Buffer.from('ä')), b.isAscii(new Uint16Array([300]))]", "b.isAscii(5)", "b.isUtf8('a')", "b.resolveObjectURL('blob:nodedata:1')",
];

const blobs = {
  "of parts": `const x = new Blob(["aä", new Uint8Array([98, 99]), new Uint16Array([100]).buffer, new Blob(["z"]), 5, null, { toString: () => "o" }]); return [x.size, await x.text(), x.type];`,
  "of nothing": `const x = new Blob(); return [x.size, x.type, await x.text(), (await x.arrayBuffer()).byteLength];`,
  "of a set": `return await new Blob(new Set(["a", "b"])).text();`,
  "of a typed array": `return await new Blob(new Uint8Array([1, 23])).text();`,
  "of a number": `new Blob(5);`,
  "of a string": `new Blob("abc");`,
  "of null": `new Blob(null);`,
  "options number": `new Blob([], 5);`,
  "options null": `return new Blob([], null).size;`,
  "endings": `return [await new Blob(["a\\r\\nb\\rc\\n"], { endings: "native" }).text(), await new Blob(["a\\r\\nb"], { endings: "transparent" }).text()];`,
  "bad endings": `new Blob([], { endings: "x" });`,
  "type": `return [new Blob([], { type: "Text/PLAIN;charset=UTF-8" }).type, new Blob([], { type: "\\u00e4" }).type, new Blob([], { type: 5 }).type, new Blob([], { type: "a\\nb" }).type];`,
  "arrayBuffer": `const x = await new Blob(["abc"]).arrayBuffer(); return [x instanceof ArrayBuffer, [...new Uint8Array(x)]];`,
  "bytes are copied": `const u = new Uint8Array([97]); const x = new Blob([u]); u[0] = 98; return await x.text();`,
  "slice": `const x = new Blob(["abcdef"], { type: "a/b" }); return await Promise.all([[1, 3], [-2], [2], [4, 2], [0, -1], [], [1, 3, "X/Y"], [99], [undefined, 2]].map(async (a) => { const s = x.slice(...a); return [await s.text(), s.type, s.size]; }));`,
  "slice of slice": `return await new Blob(["abcdef"]).slice(1, 5).slice(1, 3).text();`,
  "text malformed": `return await new Blob([new Uint8Array([0xff, 97, 0xc3])]).text();`,
  "text BOM": `return [...await new Blob(["\\ufeffa"]).text()].length;`,
  "surrogates": `return (await new Blob(["\\ud800"]).text()).codePointAt(0);`,
  "tag": `return [String(new Blob()), Blob.name, Blob.length, Object.keys(new Blob())];`,
  "read only": `const x = new Blob(); try { x.size = 4; } catch {} return x.size;`,
  "without new": `try { Blob(); } catch (e) { return e.name; }`,
  "size wrong this": `Object.getOwnPropertyDescriptor(Blob.prototype, "size").get.call({});`,
  "file": `const f = new File(["ab", "c"], "n.txt", { type: "Text/Plain", lastModified: 5 }); return [f.name, f.size, f.type, f.lastModified, await f.text(), f instanceof Blob, String(f)];`,
  "file now": `const t = Date.now(); const m = new File([], "a").lastModified; return m >= t && m <= t + 5000;`,
  "file names": `return [new File([], 5).name, new File([], undefined).name, new File([], "a/b").name, new File([], "x", { lastModified: "7" }).lastModified, new File([], "x", { lastModified: NaN }).lastModified, new File([], "x", { lastModified: 1.9 }).lastModified];`,
  "file no argument": `new File();`,
  "file no name": `new File([]);`,
  "file slice": `const s = new File(["abc"], "n").slice(1); return [s instanceof Blob, s instanceof File, await s.text()];`,
  "long": `const x = new Blob(Array(1000).fill("ab".repeat(1000))); return [x.size, (await x.text()).length];`,
};
const long = {
  "long texts": `const t = "aä€".repeat(1e6); const x = Buffer.from(t); return [x.length, x.toString() === t, x.toString("base64").length, x.toString("hex").length, Buffer.from(x.toString("hex"), "hex").equals(x), x.indexOf("zz"), x.lastIndexOf("ä"), Buffer.byteLength(t)];`,
  "long fill": `const x = Buffer.alloc(1e7, "abc"); return [x.length, x.at(-1), x.subarray(5e6, 5e6 + 4).toString(), x.swap16().length, Buffer.concat([x, x]).length, x.equals(Buffer.from(x)), x.indexOf("zzz")];`,
};

const one = (before, expression) => ({ name: expression, code: `${SHOW}${before}return plain(${expression});` });

export default [
  ...TEXTS.map((text) => ({
    name: `from ${literal(text)}`,
    code: `${SHOW} return ${literal(ENCODINGS)}.map((e) => [plain(Buffer.from(${literal(text)}, e)), Buffer.byteLength(${literal(text)}, e)]);`,
  })),
  ...ENCODINGS.map((encoding) => ({
    name: `to ${encoding}`,
    code: `return [[], [97, 98, 99], [0xc3, 0xa4, 0x80, 0xff], [0x3d, 0xd8, 0x00, 0xde, 0x41], [0xff, 0xfe, 0xfd], [0, 1, 0x7f, 0x80]].map((x) => Buffer.from(x).toString(${literal(encoding)}));`,
  })),
  ...making.map((expression) => one("", expression)),
  ...using.map((expression) => one("const x = Buffer.from('abcdef'), y = Buffer.alloc(6); ", expression)),
  ...writing.map((expression) => one("const y = Buffer.alloc(6); ", `[${expression}, y]`)),
  ...searching.map((expression) => one("const s = Buffer.from('abcabcabc'); ", expression)),
  ...[...reading, ...limits].map((expression) => one(`const n = ${n}, y = Buffer.alloc(${/Double|64/.test(expression) && /fill/.test(expression) ? 8 : 6}), z = Buffer.alloc(9); `, expression)),
  ...module.map((expression) => one("", expression)),
  ...Object.entries(blobs).map(([name, code]) => ({ name: `blob ${name}`, code: `const { File } = require("node:buffer"); ${code}` })),
  ...Object.entries(long).map(([name, code]) => ({ name, code })),
];
