// Cases of `util.inspect` for errors, circles, proxies and custom printing. The frames of errors are removed:
// they differ from engine to engine.

const INSPECT = 'const { inspect } = require("node:util");\n';
const show = (name, value, options) => ({
  name,
  code: `${INSPECT}return inspect(${value}${options ? `, ${options}` : ""});`,
});
const shown = (name, setup, value, options) => ({
  name,
  code: `${INSPECT}${setup}\nreturn inspect(${value}${options ? `, ${options}` : ""});`,
});
const errors = (name, setup, value, options) => ({
  name,
  code: `const { inspect } = require("node:util");\n${setup}\nconst text = inspect(${value}${
    options ? `, ${options}` : ""
  });\nreturn text.replace(/\\n *(?:at|\\.\\.\\. \\d+ lines) [^\\n]*?( \\{)?(?=\\n|$)/g, "$1");`,
});

const circles = [
  shown("circular object", "const a = { name: 'a' }; a.self = a;", "a"),
  shown("two circles", "const a = {}; const b = { a }; a.b = b; a.c = a; b.b = b;", "a"),
  shown("circular array", "const a = [1]; a.push(a);", "a"),
  shown("circular map", "const m = new Map(); m.set('m', m);", "m"),
  shown("circular set", "const s = new Set(); s.add(s);", "s"),
  shown("circular class", "class Node { constructor() { this.parent = this; } }", "new Node()"),
  shown("circle below the top", "const a = { x: { y: {} } }; a.x.y.back = a.x;", "a"),
  shown("circular with compact true", "const a = { b: {} }; a.b.a = a;", "a", "{ compact: true }"),
  shown("circular function", "const f = () => {}; f.self = f;", "f"),
  errors("circular error", "const e = new Error('x'); e.self = e;", "e"),
  shown("the same object twice", "const a = { x: 1 };", "[a, a]"),
];

const proxies = [
  show("proxy", "new Proxy({ a: 1 }, { get() { throw new Error('trap'); } })"),
  show("proxy of an array", "new Proxy([1, 2], {})"),
  show("proxy of a function", "new Proxy(function f() {}, {})"),
  show("proxy shown", "new Proxy({ a: 1 }, { get: undefined })", "{ showProxy: true }"),
  show("proxy of a proxy shown", "new Proxy(new Proxy({}, {}), {})", "{ showProxy: true }"),
  show("proxy too deep shown", "{ a: { b: new Proxy({ c: 1 }, {}) } }", "{ showProxy: true, depth: 0 }"),
  shown("revoked proxy", "const { proxy, revoke } = Proxy.revocable({}, {}); revoke();", "proxy"),
];

const customs = [
  shown("custom text", "const o = { [inspect.custom]() { return 'mine'; } };", "[o, { o }]"),
  shown("custom lines", "const o = { [inspect.custom]() { return 'one\\ntwo'; } };", "{ a: { o } }"),
  shown("custom object", "const o = { secret: 1, [inspect.custom]() { return { shown: 2 }; } };", "{ o }"),
  shown("custom by symbol", "const o = { [Symbol.for('nodejs.util.inspect.custom')]: () => 'sym' };", "o"),
  shown(
    "custom with depth",
    "const o = { [inspect.custom](depth) { return `depth ${depth}`; } };",
    "{ a: { b: o } }",
  ),
  shown(
    "custom with stylize",
    "const o = { [inspect.custom](d, options) { return options.stylize('x', 'special'); } };",
    "o",
    "{ colors: true }",
  ),
  shown(
    "custom with inspect",
    "const o = { [inspect.custom](d, options, i) { return `<${i({ a: 1 }, options)}>`; } };",
    "o",
  ),
  shown(
    "custom with options",
    "const o = { [inspect.custom](d, options) { return JSON.stringify(options); } };",
    "o",
    "{ mine: 1, depth: 5 }",
  ),
  shown(
    "custom of null prototype",
    "const o = { __proto__: null, [inspect.custom](d, options) { return " +
      "JSON.stringify([Object.getPrototypeOf(options), options.extra ?? null]); } };",
    "o",
    "{ extra: {} }",
  ),
  shown("custom that returns itself", "const o = { a: 1, [inspect.custom]() { return this; } };", "o"),
  shown(
    "custom switched off",
    "const o = { a: 1, [inspect.custom]() { return 'mine'; } };",
    "o",
    "{ customInspect: false }",
  ),
  shown("custom on a prototype", "class A { [inspect.custom]() { return 'A!'; } }", "[new A(), A.prototype]"),
  shown(
    "custom on a proxy",
    "const o = new Proxy({ [inspect.custom]() { return this === o ? 'proxy' : 'target'; } }, {});",
    "o",
  ),
  shown("inspect itself", "", "{ inspect }", "{ depth: 0 }"),
];

const errorCases = [
  errors("error", "const e = new Error('boo');", "e"),
  errors("error without message", "const e = new Error();", "e"),
  errors("type error", "const e = new TypeError('wrong');", "e"),
  errors("error with lines", "const e = new Error('one\\ntwo');", "e"),
  errors("error in an object", "const e = new RangeError('far');", "{ e, list: [e] }"),
  errors(
    "error with properties",
    "const e = Object.assign(new Error('boo'), { code: 'E_X', detail: { a: 1 } });",
    "e",
  ),
  errors("error with cause", "const e = new Error('outer', { cause: new TypeError('inner') });", "e"),
  errors("error with a plain cause", "const e = new Error('outer', { cause: { a: 1 } });", "e"),
  errors("error with cause undefined", "const e = new Error('outer', { cause: undefined });", "e"),
  errors(
    "aggregate error",
    "const e = new AggregateError([new Error('a'), new TypeError('b')], 'many');",
    "e",
  ),
  errors("error of a class", "class MyError extends Error {} const e = new MyError('mine');", "e"),
  errors(
    "error of a class with name",
    "class MyError extends Error { constructor(m) { super(m); this.name = 'MyError'; } } const e = new " +
      "MyError('mine');",
    "e",
  ),
  errors(
    "error of a class with another name",
    "class Oops extends Error {} const e = new Oops('mine');",
    "e",
  ),
  errors(
    "error of a class with name on the prototype",
    "class MyError extends Error { get name() { return 'Renamed'; } } const e = new MyError('mine');",
    "e",
  ),
  errors(
    "error with fields",
    "class HttpError extends Error { constructor(s) { super('bad'); this.status = s; this.name = " +
      "'HttpError'; } } const e = new HttpError(404);",
    "e",
  ),
  errors("stack replaced", "const e = new Error('boo'); e.stack = 'custom stack';", "e"),
  errors("stack emptied", "const e = new Error('boo'); e.stack = '';", "e"),
  errors(
    "stack undefined",
    "const e = new TypeError('boo'); Object.defineProperty(e, 'stack', { value: undefined });",
    "e",
  ),
  errors(
    "stack of an engine with frames only",
    "const e = new TypeError('boo'); e.stack = '    at f (x.js:1:2)\\n';",
    "({ is: inspect(e).startsWith('TypeError: boo\\\\n    at') || inspect(e) }.is, 1)",
  ),
  errors(
    "message enumerable",
    "const e = new Error('boo'); Object.defineProperty(e, 'message', { enumerable: true, value: 'boo' });",
    "e",
  ),
  errors(
    "error with null prototype",
    "const e = Object.setPrototypeOf(new Error('boo'), null); " +
      "Object.defineProperty(e, 'stack', { value: undefined });",
    "e",
  ),
  errors("object that inherits from Error", "const e = Object.create(Error.prototype);", "e"),
  errors(
    "error with a tag",
    "class T extends Error { get [Symbol.toStringTag]() { return 'tagged'; } } const e = new T('x');",
    "e",
  ),
  errors("error too deep", "const e = new Error('deep');", "{ a: { b: { c: e } } }"),
  errors(
    "error with compact false",
    "const e = Object.assign(new Error('x'), { a: 1 });",
    "e",
    "{ compact: false }",
  ),
  errors(
    "errors nested in causes",
    "const e = new Error('a', { cause: new Error('b', { cause: new Error('c') }) });",
    "e",
  ),
  errors("error in a map", "const e = new Error('x');", "new Map([['e', e]])"),
  errors(
    "error with a symbol property",
    "const e = Object.assign(new Error('x'), { [Symbol('s')]: 1 });",
    "e",
  ),
];

export default [...circles, ...proxies, ...customs, ...errorCases];
