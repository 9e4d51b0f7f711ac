// Cases of `node:assert`. An assertion that fails is caught to show the whole error.

const SETUP = `const assert = require("node:assert");
const { inspect } = require("node:util");
const caught = async (run) => {
  try {
    await run();
    return "passed";
  } catch (error) {
    const { name, message, code, generatedMessage, operator } = error;
    const [actual, expected] = [error.actual, error.expected].map((value) => inspect(value).split("\\n")[0]);
    return { name, message, code, generatedMessage, operator, actual, expected };
  }
};`;
const on = (name, run, setup = "") => ({
  name,
  code: `${SETUP}\n${setup}\nreturn await caught(() => ${run});`.replace("\n\n", "\n"),
});
const answer = (name, value, setup = "") => ({
  name,
  code: `${SETUP}\n${setup}\nreturn ${value};`.replace("\n\n", "\n"),
});
const pair = (operator) => (name, a, b, setup) =>
  on(`${operator}: ${name}`, `assert.${operator}(${a}, ${b})`, setup);
const strictEqual = pair("strictEqual");
const deepStrictEqual = pair("deepStrictEqual");
const deepEqual = pair("deepEqual");
const equal = pair("equal");

const truths = [
  on("true", "assert(true)"),
  on("ok of a value", "assert.ok({})"),
  on("false", "assert(false)"),
  on("ok of zero", "assert.ok(0)"),
  on("false with message", "assert(false, 'wrong')"),
  on("ok with message", "assert.ok(null, 'wrong')"),
  on("ok with an empty message", "assert.ok(null, '')"),
  on("ok with an error", "assert.ok(false, new RangeError('mine'))"),
  on("ok without value", "assert.ok()"),
  on("assert without value", "assert()"),
  on("strict without value", "assert.strict()"),
  on("ok of undefined", "assert.ok(undefined)"),
  on("ok with a message that is no text", "assert.ok(false, 5)"),
];

const equalities = [
  equal("same", "1", "1"),
  equal("loose", "1", "'1'"),
  equal("not a number", "NaN", "NaN"),
  equal("different numbers", "1", "2"),
  equal("different texts", "'a'", "'b'"),
  equal("objects", "{}", "{}"),
  equal("null and undefined", "null", "undefined"),
  equal("long texts", "'x'.repeat(600)", "'y'"),
  equal("with message", "1", "2, 'wrong'"),
  equal("with an error", "1", "2, new TypeError('mine')"),
  on("equal with one argument", "assert.equal(1)"),
  on("equal without arguments", "assert.equal()"),
  on("notEqual", "assert.notEqual(1, 2)"),
  on("notEqual of same", "assert.notEqual(1, '1')"),
  on("notEqual of NaN", "assert.notEqual(NaN, NaN)"),
  on("notEqual with message", "assert.notEqual(1, 1, 'same')"),
  on("notEqual with one argument", "assert.notEqual(1)"),
];

const stricts = [
  strictEqual("same", "1", "1"),
  strictEqual("not a number", "NaN", "NaN"),
  strictEqual("numbers", "1", "2"),
  strictEqual("zeros", "0", "-0"),
  strictEqual("number and text", "1", "'1'"),
  strictEqual("null and undefined", "null", "undefined"),
  strictEqual("booleans", "true", "false"),
  strictEqual("bigints", "1n", "2n"),
  strictEqual("symbols", "Symbol('a')", "Symbol('b')"),
  strictEqual("short texts", "'a'", "'b'"),
  strictEqual("longer texts", "'hello world'", "'hello there'"),
  strictEqual("longer texts that differ at once", "'hello world'", "'goodbye world'"),
  strictEqual("very long texts", "'a'.repeat(50) + 'x'", "'a'.repeat(50) + 'y'"),
  strictEqual("texts of lines", "'one\\ntwo\\nthree'", "'one\\n2\\nthree'"),
  strictEqual("text and number", "'a long text here'", "12345"),
  strictEqual("equal objects", "{ a: 1 }", "{ a: 1 }"),
  strictEqual("different objects", "{ a: 1 }", "{ a: 2 }"),
  strictEqual("empty objects", "{}", "{}"),
  strictEqual("arrays", "[1, 2, 3]", "[1, 2, 3]"),
  strictEqual("functions", "() => 1", "() => 2"),
  strictEqual("object and number", "{}", "5"),
  strictEqual("undefined and object", "undefined", "{ a: 1 }"),
  strictEqual("errors", "new Error('a')", "new Error('b')"),
  strictEqual("dates", "new Date(0)", "new Date(0)"),
  strictEqual("with message", "1", "2, 'wrong'"),
  strictEqual("of objects with message", "{ a: 1 }", "{ a: 2 }, 'wrong'"),
  strictEqual("with an error", "1", "2, new TypeError('mine')"),
  on("strictEqual with one argument", "assert.strictEqual(1)"),
  on("notStrictEqual", "assert.notStrictEqual(1, 2)"),
  on("notStrictEqual of numbers", "assert.notStrictEqual(1, 1)"),
  on("notStrictEqual of texts", "assert.notStrictEqual('long text', 'long text')"),
  on("notStrictEqual of an object", "assert.notStrictEqual(o, o)", "const o = { a: 1, b: [1, 2] };"),
  on("notStrictEqual of NaN", "assert.notStrictEqual(NaN, NaN)"),
  on("notStrictEqual with message", "assert.notStrictEqual(1, 1, 'same')"),
];

const deeps = [
  deepStrictEqual("same", "{ a: [1, { b: 2 }] }", "{ a: [1, { b: 2 }] }"),
  deepStrictEqual("property", "{ a: 1, b: 2 }", "{ a: 1, b: 3 }"),
  deepStrictEqual("missing property", "{ a: 1 }", "{ a: 1, b: 2 }"),
  deepStrictEqual("more properties", "{ a: 1, b: 2 }", "{ a: 1 }"),
  deepStrictEqual("nested", "{ a: { b: { c: 1, d: 2 }, e: 3 } }", "{ a: { b: { c: 1, d: 5 }, e: 3 } }"),
  deepStrictEqual("arrays", "[1, 2, 3]", "[1, 2, 4]"),
  deepStrictEqual("longer array", "[1, 2, 3, 4]", "[1, 2, 3]"),
  deepStrictEqual("shorter array", "[1, 2]", "[1, 2, 3, 4]"),
  deepStrictEqual("item in the middle", "[1, 2, 3, 4, 5, 6, 7, 8, 9]", "[1, 2, 3, 4, 0, 6, 7, 8, 9]"),
  deepStrictEqual(
    "items far apart",
    "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]",
    "[0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0]",
  ),
  deepStrictEqual("five common lines", "[0, 1, 2, 3, 4, 5, 'a', 7]", "[9, 1, 2, 3, 4, 5, 'b', 7]"),
  deepStrictEqual("four common lines", "[0, 1, 2, 3, 4, 'a', 7]", "[9, 1, 2, 3, 4, 'b', 7]"),
  deepStrictEqual("three common lines", "[0, 1, 2, 3, 'a', 7]", "[9, 1, 2, 3, 'b', 7]"),
  deepStrictEqual(
    "many differences",
    "Array.from({ length: 60 }, (_, i) => i)",
    "Array.from({ length: 60 }, (_, i) => -i - 1)",
  ),
  deepStrictEqual(
    "long arrays",
    "Array.from({ length: 100 }, (_, i) => i)",
    "Array.from({ length: 100 }, (_, i) => (i === 50 ? 'x' : i))",
  ),
  deepStrictEqual(
    "long missing end",
    "Array.from({ length: 40 }, (_, i) => i)",
    "Array.from({ length: 20 }, (_, i) => i)",
  ),
  deepStrictEqual("numbers and texts", "[1]", "['1']"),
  deepStrictEqual("zeros", "[0]", "[-0]"),
  deepStrictEqual("short values", "1", "2"),
  deepStrictEqual("prototypes", "new A()", "{ x: 1 }", "class A { x = 1; }"),
  deepStrictEqual("symbols", "{ a: Symbol('x') }", "{ a: Symbol('x') }"),
  deepStrictEqual(
    "many symbols",
    "Array.from({ length: 60 }, () => Symbol())",
    "Array.from({ length: 60 }, () => Symbol())",
  ),
  deepStrictEqual("maps", "new Map([['a', 1]])", "new Map([['a', 2]])"),
  deepStrictEqual("sets", "new Set([1, 2])", "new Set([1, 3])"),
  deepStrictEqual("dates", "new Date(0)", "new Date(1)"),
  deepStrictEqual("regular expressions", "/a/", "/a/g"),
  deepStrictEqual(
    "errors",
    "Object.assign(new Error('a'), { x: 1 })",
    "Object.assign(new Error('b'), { x: 1 })",
  ),
  deepStrictEqual("empty and filled", "{}", "{ a: 1 }"),
  deepStrictEqual("array and object", "[]", "{}"),
  deepStrictEqual("texts of lines", "{ t: 'a\\nb' }", "{ t: 'a\\nc' }"),
  deepStrictEqual("key order", "{ b: 1, a: 2 }", "{ a: 3, b: 1 }"),
  deepStrictEqual("trailing comma", "{ a: 1, b: 2, c: 3 }", "{ a: 1, b: 2 }"),
  deepStrictEqual("classes", "class A {}", "class B {}"),
  deepStrictEqual("null", "null", "{ a: 1 }"),
  deepStrictEqual("with message", "{ a: 1 }", "{ a: 2 }, 'wrong'"),
  deepStrictEqual("with an error", "1", "2, new RangeError('mine')"),
  on("deepStrictEqual with one argument", "assert.deepStrictEqual({})"),
  deepEqual("same", "{ a: 1 }", "{ a: '1' }"),
  deepEqual("properties", "{ a: 1 }", "{ a: 2 }"),
  deepEqual("arrays", "[1, 2]", "[1, '2']"),
  deepEqual("prototypes", "new (class A { x = 1; })()", "{ x: 1 }"),
  deepEqual("sets of loose values", "new Set([1, 2, null])", "new Set(['1', 2, undefined])"),
  deepEqual("sets that differ", "new Set(['a'])", "new Set(['b'])"),
  deepEqual(
    "maps of loose keys",
    "new Map([[1, '2'], [{ a: 1 }, 3]])",
    "new Map([['1', 2], [{ a: '1' }, '3']])",
  ),
  deepEqual("maps of undefined and null", "new Map([[undefined, 1]])", "new Map([[null, '1']])"),
  deepEqual("zeros of floats", "new Float64Array([0])", "new Float64Array([-0])"),
  deepEqual("symbol keys", "{ [Symbol()]: 1 }", "{}"),
  deepEqual("NaN", "[NaN]", "[NaN]"),
  deepEqual("long values", "'x'.repeat(600)", "'y'.repeat(600)"),
  deepEqual("primitives", "1", "2"),
  on("deepEqual with message", "assert.deepEqual(1, 2, 'wrong')"),
  on("notDeepEqual", "assert.notDeepEqual({ a: 1 }, { a: 2 })"),
  on("notDeepEqual of same", "assert.notDeepEqual({ a: 1 }, { a: 1 })"),
  on("notDeepEqual of loosely same", "assert.notDeepEqual({ a: 1 }, { a: '1' })"),
  on("notDeepStrictEqual", "assert.notDeepStrictEqual({ a: 1 }, { a: '1' })"),
  on("notDeepStrictEqual of same", "assert.notDeepStrictEqual({ a: 1 }, { a: 1 })"),
  on(
    "notDeepStrictEqual of long values",
    "assert.notDeepStrictEqual(a, a)",
    "const a = Array.from({ length: 60 }, (_, i) => i);",
  ),
];

const throwing = [
  on("throws", "assert.throws(() => { throw new Error('x'); })"),
  on("throws not", "assert.throws(() => {})"),
  on("throws not, with message", "assert.throws(() => {}, 'should throw')"),
  on("throws not, with class", "assert.throws(() => {}, RangeError)"),
  on("throws not, with class and message", "assert.throws(() => {}, RangeError, 'should throw')"),
  on("throws a class", "assert.throws(() => { throw new RangeError('x'); }, RangeError)"),
  on("throws another class", "assert.throws(() => { throw new RangeError('far'); }, TypeError)"),
  on(
    "throws another class, with message",
    "assert.throws(() => { throw new RangeError('far'); }, TypeError, 'wrong')",
  ),
  on(
    "throws another class of the same name",
    "assert.throws(() => { throw new A('x'); }, B)",
    "const A = class Same extends Error {}; const B = class Same extends Error {};",
  ),
  on("throws no error", "assert.throws(() => { throw 5; }, TypeError)"),
  on("throws what matches", "assert.throws(() => { throw new Error('some text'); }, /some/)"),
  on("throws what does not match", "assert.throws(() => { throw new Error('some text'); }, /other/)"),
  on(
    "throws what does not match, with message",
    "assert.throws(() => { throw new Error('some text'); }, /other/, 'wrong')",
  ),
  on(
    "throws like an object",
    "assert.throws(() => { throw Object.assign(new TypeError('m'), { code: 'E' }); }, { name: " +
      "'TypeError', message: 'm', code: 'E' })",
  ),
  on(
    "throws like an object with patterns",
    "assert.throws(() => { throw new TypeError('some text'); }, { name: /^Type/, message: /text$/ })",
  ),
  on(
    "throws unlike an object",
    "assert.throws(() => { throw new TypeError('m'); }, { name: 'TypeError', message: 'n' })",
  ),
  on(
    "throws unlike an object with patterns",
    "assert.throws(() => { throw new TypeError('some text'); }, { name: /^Type/, message: /other/ })",
  ),
  on("throws without a property", "assert.throws(() => { throw new TypeError('m'); }, { code: 'E' })"),
  on(
    "throws unlike an object, with message",
    "assert.throws(() => { throw new TypeError('m'); }, { message: 'n' }, 'wrong')",
  ),
  on("throws like an error", "assert.throws(() => { throw new TypeError('m'); }, new TypeError('m'))"),
  on("throws unlike an error", "assert.throws(() => { throw new TypeError('m'); }, new TypeError('n'))"),
  on("throws a primitive unlike an object", "assert.throws(() => { throw 'text'; }, { message: 'm' })"),
  on(
    "throws as a function wants",
    "assert.throws(() => { throw new Error('m'); }, (error) => error.message === 'm')",
  ),
  on("throws not as a function wants", "assert.throws(() => { throw new Error('m'); }, (error) => false)"),
  on(
    "throws not as a named function wants",
    "assert.throws(() => { throw new Error('m'); }, function check() { return 5; })",
  ),
  on("throws with an empty object", "assert.throws(() => { throw new Error('m'); }, {})"),
  on("throws with the same message", "assert.throws(() => { throw new Error('m'); }, 'm')"),
  on("throws a text with the same message", "assert.throws(() => { throw 'm'; }, 'm')"),
  on("throws with a text and a message", "assert.throws(() => { throw new Error('m'); }, 'a', 'b')"),
  on("throws with a number", "assert.throws(() => { throw new Error('m'); }, 5)"),
  on("throws of no function", "assert.throws('x')"),
  on("throws of nothing", "assert.throws()"),
  on("throws undefined", "assert.throws(() => { throw undefined; })"),
  on("throws with an arrow function as class", "assert.throws(() => { throw new Error('m'); }, () => true)"),
  on("doesNotThrow", "assert.doesNotThrow(() => {})"),
  on("doesNotThrow of a throw", "assert.doesNotThrow(() => { throw new Error('m'); })"),
  on("doesNotThrow with message", "assert.doesNotThrow(() => { throw new Error('m'); }, 'wrong')"),
  on("doesNotThrow of a class", "assert.doesNotThrow(() => { throw new RangeError('m'); }, RangeError)"),
  on("doesNotThrow of another class", "assert.doesNotThrow(() => { throw new RangeError('m'); }, TypeError)"),
  on("doesNotThrow of a pattern", "assert.doesNotThrow(() => { throw new RangeError('m'); }, /m/, 'wrong')"),
  on("doesNotThrow with an object", "assert.doesNotThrow(() => { throw new RangeError('m'); }, {})"),
  on("rejects", "assert.rejects(Promise.reject(new Error('x')))"),
  on("rejects of a function", "assert.rejects(async () => { throw new RangeError('x'); }, RangeError)"),
  on(
    "rejects like an object",
    "assert.rejects(async () => { throw new RangeError('x'); }, { name: 'RangeError', message: 'x' })",
  ),
  on("rejects not", "assert.rejects(Promise.resolve(1))"),
  on("rejects not, with class", "assert.rejects(async () => {}, TypeError)"),
  on("rejects another class", "assert.rejects(async () => { throw new RangeError('x'); }, TypeError)"),
  on("rejects of a throw", "assert.rejects(() => { throw new RangeError('at once'); })"),
  on("rejects of no promise", "assert.rejects(5)"),
  on("rejects of a function without promise", "assert.rejects(() => 5)"),
  on(
    "rejects of a thenable",
    "assert.rejects({ then(a, reject) { reject(new Error('t')); }, catch() {} }, /t/)",
  ),
  on("rejects answers a promise", "assert.ok(assert.rejects(Promise.reject(1)) instanceof Promise)"),
  on("doesNotReject", "assert.doesNotReject(Promise.resolve(1))"),
  on("doesNotReject of a rejection", "assert.doesNotReject(Promise.reject(new Error('x')))"),
  on("doesNotReject with message", "assert.doesNotReject(Promise.reject(new Error('x')), 'wrong')"),
];

const others = [
  on("match", "assert.match('abc', /b/)"),
  on("match not", "assert.match('abc', /x/)"),
  on("match with message", "assert.match('abc', /x/, 'wrong')"),
  on("match with an error", "assert.match('abc', /x/, new RangeError('mine'))"),
  on("match of a number", "assert.match(5, /x/)"),
  on("match of an object", "assert.match({ a: 1 }, /x/)"),
  on("match with a text", "assert.match('abc', 'b')"),
  on("doesNotMatch", "assert.doesNotMatch('abc', /x/)"),
  on("doesNotMatch of a match", "assert.doesNotMatch('abc', /b/)"),
  on("doesNotMatch of a number", "assert.doesNotMatch(5, /x/)"),
  on("fail", "assert.fail()"),
  on("fail with message", "assert.fail('boom')"),
  on("fail with an error", "assert.fail(new TypeError('mine'))"),
  on("fail with two values", "assert.fail(1, 2)"),
  on("fail with message and operator", "assert.fail(1, 2, undefined, '>')"),
  on("fail with all", "assert.fail(1, 2, 'wrong', '>')"),
  on("fail with null", "assert.fail(null)"),
  on("ifError of null", "assert.ifError(null)"),
  on("ifError of undefined", "assert.ifError(undefined)"),
  on("ifError of an error", "assert.ifError(new Error('bad'))"),
  on("ifError of a text", "assert.ifError('bad')"),
  on("ifError of an error without message", "assert.ifError(new RangeError())"),
  on("ifError of zero", "assert.ifError(0)"),
  on("ifError of an object", "assert.ifError({ a: 1 })"),
  on("strict equal", "assert.strict.equal(1, '1')"),
  on("strict deepEqual", "assert.strict.deepEqual({ a: 1 }, { a: '1' })"),
  on("strict notEqual", "assert.strict.notEqual(1, '1')"),
  on("strict notDeepEqual", "assert.strict.notDeepEqual([1], ['1'])"),
  on("strict of false", "assert.strict(false, 'wrong')"),
  answer(
    "strict as a module",
    "[strict === assert.strict, strict.strict === strict, strict.equal === assert.strictEqual]",
    "const strict = require('node:assert/strict');",
  ),
  answer(
    "error of one's own",
    "[e.message, e.name, e.code, e.generatedMessage, e instanceof Error, String(e)]",
    "const e = new assert.AssertionError({ actual: 1, expected: 2, operator: 'strictEqual' });",
  ),
  answer(
    "error of one's own with message",
    "[e.message, e.generatedMessage, Object.keys(e)]",
    "const e = new assert.AssertionError({ message: 'm' });",
  ),
  answer(
    "error of one's own with an operator",
    "new assert.AssertionError({ actual: { a: 1 }, expected: [1], operator: '>' }).message",
  ),
  answer("error without options", "new assert.AssertionError()"),
  answer("error with a text as options", "new assert.AssertionError('m')"),
  answer(
    "first line of the stack",
    "e.stack.split('\\n')[0]",
    "const e = new assert.AssertionError({ message: 'm' });",
  ),
  answer(
    "error, printed",
    "inspect(e).replace(/\\n *at [^\\n]*?( \\{)?(?=\\n|$)/g, '$1')",
    "const e = new assert.AssertionError({ actual: { a: { b: 1 } }, expected: 2, operator: 'strictEqual' });",
  ),
  answer(
    "error with long texts, printed",
    "inspect(e).replace(/\\n *at [^\\n]*?( \\{)?(?=\\n|$)/g, '$1')",
    "const e = new assert.AssertionError({ actual: 'a\\n'.repeat(20), expected: 'b', operator: '==' });",
  ),
  answer(
    "hidden name",
    "[Object.keys(e), Object.getOwnPropertyDescriptor(e, 'name')]",
    "const e = new assert.AssertionError({ message: 'm' });",
  ),
  answer("exports", "Object.keys(assert).filter((key) => key !== 'CallTracker').sort()"),
  answer(
    "names",
    "[assert.name, assert.equal.name, assert.deepStrictEqual.name, assert.throws.name, assert.strict.name]",
  ),
  answer("the module and its function are one", "[assert === assert.ok, require('assert') === assert]"),
  answer(
    "named import",
    "[module.default === assert, typeof module.deepEqual, module.strict === assert.strict]",
    "const module = await import('node:assert');",
  ),
];

export default [...truths, ...equalities, ...stricts, ...deeps, ...throwing, ...others];
