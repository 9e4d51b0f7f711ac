// Cases of `structuredClone`, and of `DOMException`, which it throws.

const same = (name, setup, answer) => ({ name, code: `${setup}\nreturn ${answer};` });
const printed = (name, value) => ({
  name: `${name}, printed`,
  code: `const { inspect } = require("node:util");\nreturn inspect(structuredClone(${value}));`,
});
const refused = (name, value) => ({
  name: `${name} is refused`,
  code: `try {
  structuredClone(${value});
  return "cloned";
} catch (error) {
  return [error.name, error.message, error.code, error instanceof DOMException, error instanceof Error];
}`,
});

const values = [
  printed("primitives", "[1, -0, NaN, 'a', true, null, undefined, 5n]"),
  printed("nested objects", "{ a: { b: [1, { c: 2 }] } }"),
  printed("null prototype", "Object.assign(Object.create(null), { a: 1 })"),
  printed("class instance", "new (class Foo { x = 1; #y = 2; get z() { return 3; } })()"),
  printed("getter", "{ get a() { return 5; } }"),
  printed("symbol keys", "{ [Symbol('k')]: 1, a: 2 }"),
  printed("hidden property", "Object.defineProperty({ a: 1 }, 'h', { value: 1 })"),
  printed("own __proto__", 'JSON.parse(\'{"__proto__": {"a": 1}, "b": 2}\')'),
  printed("holes", "[1, , 3, , ]"),
  printed("array with properties", "Object.assign([1, 2], { name: 'x' })"),
  printed("subclass of Array", "new (class List extends Array {})(1, 2)"),
  printed("map", "new Map([['a', { b: 1 }], [{ c: 2 }, new Map([[1, 2]])]])"),
  printed("map with properties", "Object.assign(new Map([[1, 2]]), { p: 1 })"),
  printed("subclass of Map", "new (class Registry extends Map {})([[1, 2]])"),
  printed("set", "new Set([1, 'a', { b: 2 }])"),
  printed("date", "new Date(86400000)"),
  printed("invalid date", "new Date(NaN)"),
  printed("date with properties", "Object.assign(new Date(0), { a: 1 })"),
  printed("regular expression", "/a+b/giu"),
  printed("boxed values", "[new Number(1), new String('s'), new Boolean(false), Object(7n)]"),
  printed("boxed string with properties", "Object.assign(new String('abc'), { p: 1 })"),
  printed("ArrayBuffer", "new Uint8Array([1, 2, 3]).buffer"),
  printed(
    "typed arrays",
    "[new Uint8Array([1, 2]), new Float64Array([1.5]), new BigInt64Array([-1n]), new " +
      "Uint8ClampedArray([300])]",
  ),
  printed("part of a buffer", "new Uint8Array([1, 2, 3, 4]).subarray(1, 3)"),
  printed("DataView", "new DataView(new Uint8Array([1, 2, 3]).buffer, 1, 2)"),
  printed("Math", "Math"),
  printed("object with a tag", "{ [Symbol.toStringTag]: 'T', a: 1 }"),
  same("last index is not copied", "const re = /a/g; re.lastIndex = 3;", "structuredClone(re).lastIndex"),
  same("-0 is kept", "", "Object.is(structuredClone(-0), -0)"),
  same("a string is the same", "", "structuredClone('x'.repeat(1000)).length"),
  same("undefined as given value", "", "structuredClone(undefined) === undefined"),
  same(
    "prototype is plain",
    "class A { x = 1; }",
    "Object.getPrototypeOf(structuredClone(new A())) === Object.prototype",
  ),
  same(
    "shared array buffer is shared",
    "const a = new SharedArrayBuffer(2); const b = structuredClone(a); new Uint8Array(a)[0] = 7;",
    "new Uint8Array(b)[0]",
  ),
  same(
    "resizable buffer",
    "const b = structuredClone(new ArrayBuffer(2, { maxByteLength: 8 }));",
    "[b.resizable, b.byteLength, b.maxByteLength]",
  ),
  same(
    "copy is independent",
    "const a = { list: [1] }; const b = structuredClone(a); b.list.push(2);",
    "[a, b]",
  ),
  same(
    "attributes become plain",
    "const a = Object.freeze({ x: 1 }); const b = structuredClone(a);",
    "Object.getOwnPropertyDescriptor(b, 'x')",
  ),
  same("enumeration order", "", "Object.keys(structuredClone({ b: 1, a: 2, 1: 3 }))"),
];

const references = [
  same(
    "circular object",
    "const a = { n: 1 }; a.self = a; const b = structuredClone(a);",
    "[b.self === b, b !== a, b.n]",
  ),
  same("circular array", "const a = []; a.push(a); const b = structuredClone(a);", "b[0] === b"),
  same(
    "circular map",
    "const m = new Map(); m.set('m', m); m.set(m, 1); const c = structuredClone(m);",
    "[c.get('m') === c, c.get(c)]",
  ),
  same("circular set", "const s = new Set(); s.add(s); const c = structuredClone(s);", "c.has(c)"),
  same(
    "shared object",
    "const o = {}; const c = structuredClone({ a: o, b: o, m: new Map([[o, o]]) });",
    "[c.a === c.b, c.m.get(c.a) === c.a]",
  ),
  same("shared date", "const d = new Date(0); const c = structuredClone([d, d]);", "c[0] === c[1]"),
  same(
    "views of one buffer",
    "const u = new Uint8Array([1, 2, 3, 4]); const c = structuredClone({ a: u, b: u.subarray(1), c: " +
      "u.buffer });",
    "[c.a.buffer === c.b.buffer, c.c === c.a.buffer, c.b.byteOffset]",
  ),
  same(
    "very deep",
    "let deep = null; for (let i = 0; i < 400; i++) deep = { deep }; let c = structuredClone(deep); " +
      "let n = 0; while (c) { c = c.deep; n++; }",
    "n",
  ),
  same(
    "many items",
    "const c = structuredClone(Array.from({ length: 5000 }, (_, i) => ({ i })));",
    "[c.length, c[4999].i]",
  ),
];

const errors = [
  same(
    "error",
    "const e = structuredClone(new Error('boo'));",
    "[e.name, e.message, e instanceof Error, e.constructor === Error]",
  ),
  same(
    "type error",
    "const e = structuredClone(new TypeError('boo'));",
    "[e.name, e.message, e.constructor === TypeError]",
  ),
  same(
    "every class",
    "",
    "[RangeError, EvalError, ReferenceError, SyntaxError, URIError].map((C) => structuredClone(new " +
      "C('m')).constructor === C)",
  ),
  same(
    "error of a class",
    "class E extends Error {} const e = structuredClone(Object.assign(new E('m'), { extra: 1 }));",
    "[e.constructor === Error, e.extra, e.message]",
  ),
  same(
    "renamed error",
    "const e = structuredClone(Object.assign(new Error('m'), { name: 'RangeError' }));",
    "[e.constructor === RangeError, Object.keys(e)]",
  ),
  same(
    "error with an unknown name",
    "const e = structuredClone(Object.assign(new TypeError('m'), { name: 'Odd' }));",
    "[e.constructor === Error, e.name]",
  ),
  same(
    "aggregate error",
    "const e = structuredClone(new AggregateError([new Error('a')], 'agg'));",
    "[e.constructor === Error, e.errors, e.message]",
  ),
  same(
    "cause",
    "const e = structuredClone(new Error('m', { cause: { a: [1] } }));",
    "[e.cause, Object.keys(e)]",
  ),
  same("no cause", "const e = structuredClone(new Error('m'));", "'cause' in e"),
  same(
    "message that is no text",
    "const e = new Error('m'); Object.defineProperty(e, 'message', { value: 5 });",
    "structuredClone(e).message",
  ),
  same(
    "message as accessor",
    "const e = new Error('m'); Object.defineProperty(e, 'message', { get() { return 'x'; } });",
    "structuredClone(e).message",
  ),
  same("no message", "", "Object.hasOwn(structuredClone(new Error()), 'message')"),
  same(
    "stack begins with name and message",
    "",
    "structuredClone(new TypeError('boo')).stack.split('\\n')[0]",
  ),
  same(
    "error in an object",
    "const o = structuredClone({ e: new RangeError('far') });",
    "[o.e.name, o.e.message]",
  ),
];

const refusals = [
  refused("arrow function", "() => {}"),
  refused("function", "function foo() {}"),
  refused("class", "class A {}"),
  refused("method", "{ f() {} }"),
  refused("deep function", "{ a: [{ b: () => 1 }] }"),
  refused("symbol", "Symbol('a')"),
  refused("symbol without text", "[Symbol()]"),
  refused("boxed symbol", "Object(Symbol('a'))"),
  refused("promise", "Promise.resolve()"),
  refused("weak map", "new WeakMap()"),
  refused("weak set", "new WeakSet()"),
  refused("weak reference", "new WeakRef({})"),
  refused("registry of finalization", "new FinalizationRegistry(() => {})"),
  refused("proxy", "new Proxy({}, {})"),
  refused("proxy of an array", "[new Proxy([], {})]"),
  refused("generator object", "(function* () {})()"),
  refused("arguments object", "(function () { return arguments; })(1)"),
  refused("subclass of Promise", "new (class P extends Promise {})(() => {})"),
  refused("function in a map", "new Map([[1, () => 2]])"),
  refused("function in a set", "new Set([() => 2])"),
  refused("cause that is a function", "new Error('m', { cause: () => 3 })"),
  same("error of a getter", "", "structuredClone({ get a() { throw new RangeError('mine'); } })"),
  same("first refusal in order", "", "structuredClone({ a: { b: () => 'first' }, c: () => 'second' })"),
];

const transfers = [
  same(
    "transfer",
    "const b = new Uint8Array([1, 2, 3]).buffer; const c = structuredClone(b, { transfer: [b] });",
    "[c.byteLength, b.byteLength, [...new Uint8Array(c)]]",
  ),
  same(
    "transfer with a view",
    "const u = new Uint8Array([1, 2, 3]); const c = structuredClone({ u, b: u.buffer }, { transfer: " +
      "[u.buffer] });",
    "[u.length, [...c.u], c.u.buffer === c.b]",
  ),
  same(
    "transfer of what is not in the value",
    "const b = new ArrayBuffer(3); const c = structuredClone(5, { transfer: [b] });",
    "[c, b.byteLength]",
  ),
  same(
    "transfer by any iterable",
    "const b = new ArrayBuffer(3); structuredClone(b, { transfer: new Set([b]) });",
    "b.byteLength",
  ),
  same("empty transfer", "", "structuredClone([1], { transfer: [] })"),
  same("transfer undefined", "", "structuredClone([1], { transfer: undefined })"),
  same("options undefined", "", "structuredClone([1], undefined)"),
  same("options null", "", "structuredClone([1], null)"),
  same("options number", "", "structuredClone([1], 5)"),
  same("transfer null", "", "structuredClone([1], { transfer: null })"),
  same("transfer number", "", "structuredClone([1], { transfer: 5 })"),
  same("transfer string", "", "structuredClone([1], { transfer: 'ab' })"),
  same("transfer of an object", "", "structuredClone([1], { transfer: [{}] })"),
  same("transfer of a view", "", "structuredClone([1], { transfer: [new Uint8Array(1)] })"),
  same("transfer of a shared buffer", "", "structuredClone([1], { transfer: [new SharedArrayBuffer(1)] })"),
  same(
    "transfer twice",
    "const b = new ArrayBuffer(1); let e; try { structuredClone(b, { transfer: [b, b] }); } catch (x) " +
      "{ e = x; }",
    "[e.name, e.message, b.byteLength]",
  ),
  same(
    "failure leaves the buffer",
    "const b = new ArrayBuffer(3); try { structuredClone({ b, f() {} }, { transfer: [b] }); } catch {}",
    "b.byteLength",
  ),
  same(
    "detached buffer",
    "const b = new ArrayBuffer(3); structuredClone(b, { transfer: [b] });",
    "structuredClone(b)",
  ),
  same(
    "view of a detached buffer",
    "const u = new Uint8Array(3); structuredClone(u, { transfer: [u.buffer] });",
    "structuredClone(u)",
  ),
  same(
    "transfer of a detached buffer",
    "const b = new ArrayBuffer(3); structuredClone(b, { transfer: [b] });",
    "structuredClone(1, { transfer: [b] })",
  ),
  same("no argument", "", "structuredClone()"),
  same("name of the function", "", "[structuredClone.name, structuredClone.length]"),
];

const exceptions = [
  same(
    "exception",
    "const e = new DOMException('m', 'AbortError');",
    "[e.name, e.message, e.code, String(e)]",
  ),
  same(
    "exception without arguments",
    "const e = new DOMException();",
    "[e.name, e.message, e.code, String(e)]",
  ),
  same("exception with an unknown name", "const e = new DOMException('m', 'Mine');", "[e.name, e.code]"),
  same(
    "exception with options",
    "const e = new DOMException('m', { name: 'NotFoundError', cause: 5 });",
    "[e.name, e.code, e.cause, Object.keys(e)]",
  ),
  same("exception with empty options", "const e = new DOMException('m', {});", "[e.name, 'cause' in e]"),
  same("exception with null", "const e = new DOMException('m', null);", "e.name"),
  same("exception with other types", "const e = new DOMException(5, 7);", "[e.message, e.name]"),
  same(
    "classes of an exception",
    "const e = new DOMException('m');",
    "[e instanceof DOMException, e instanceof Error, Object.prototype.toString.call(e), e.constructor " +
      "=== DOMException]",
  ),
  same("numbers", "", "Object.entries(DOMException).sort()"),
  same("numbers of instances", "const e = new DOMException('m');", "[e.ABORT_ERR, e.DATA_CLONE_ERR]"),
  same(
    "code of every name",
    "",
    "['IndexSizeError', 'DOMStringSizeError', 'NotFoundError', 'ValidationError', 'SyntaxError', " +
      "'TimeoutError', 'QuotaExceededError', 'EncodingError'].map((n) => new DOMException('', n).code)",
  ),
  same(
    "enumerable members",
    "const keys = []; for (const key in new DOMException('m')) keys.push(key);",
    "keys.filter((key) => !key.includes('_')).sort()",
  ),
  same("first line of the stack", "", "new DOMException('m', 'AbortError').stack.split('\\n')[0]"),
  same(
    "called without new",
    "let name; try { DOMException('m'); } catch (error) { name = error.name; }",
    "name",
  ),
  same("getter on something else", "", "DOMException.prototype.name"),
  same(
    "message cannot be set",
    "const e = new DOMException('m', 'AbortError'); try { (function () { 'use strict'; e.message = " +
      "'x'; })(); } catch (error) { e.caught = error.name; }",
    "[e.message, e.caught]",
  ),
  same(
    "exception, printed",
    "const { inspect } = require('node:util');",
    "inspect(new DOMException('m', 'AbortError')).replace(/\\n *at .*/g, '')",
  ),
  same(
    "exception of a class, printed",
    "const { inspect } = require('node:util'); class Mine extends DOMException {}",
    "inspect(new Mine('m', 'AbortError')).replace(/\\n *at .*/g, '')",
  ),
  same(
    "subclass",
    "class Mine extends DOMException { get extra() { return 1; } } const e = new Mine('m', 'AbortError');",
    "[e.name, e.extra, e instanceof Mine, e.code]",
  ),
];

export default [...values, ...references, ...errors, ...refusals, ...transfers, ...exceptions];
