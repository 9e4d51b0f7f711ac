// Cases of `util.inspect` for primitives, objects, classes, functions and accessors, and of its colours.

const INSPECT = 'const { inspect } = require("node:util");\n';
const show = (name, value, options) => ({
  name,
  code: `${INSPECT}return inspect(${value}${options ? `, ${options}` : ""});`,
});
const shown = (name, setup, value, options) => ({
  name,
  code: `${INSPECT}${setup}\nreturn inspect(${value}${options ? `, ${options}` : ""});`,
});

const primitives = [
  show("integer", "42"),
  show("negative zero", "-0"),
  show("fraction", "1.5"),
  show("exponent", "1e21"),
  show("not a number", "NaN"),
  show("infinity", "-Infinity"),
  show("bigint", "12345678901234567890n"),
  show("true", "true"),
  show("undefined", "undefined"),
  show("null", "null"),
  show("symbol", 'Symbol("a b")'),
  show("symbol without text", "Symbol()"),
  show("well-known symbol", "Symbol.iterator"),
  show("string", '"plain"'),
  show("empty string", '""'),
  show("string with single quote", `"it's"`),
  show("string with both quotes", `'it\\'s "so"'`),
  show("string with all quotes", "'\\' \" `'"),
  show("string with quotes and template", "'\\'\"${x}'"),
  show("string with escapes", '"a\\n\\t\\b\\f\\r\\\\\\0\\x01\\x7f\\x9f"'),
  show("string with lone surrogates", '"\\ud800 x \\udc00 \\u{1f600}"'),
  show("string with characters beyond ASCII", '"äöü € 日本"'),
  show("long string on its own", '"x".repeat(200)'),
  show("string beyond maxStringLength", '"x".repeat(10010)'),
  show("one character beyond maxStringLength", '"abcd"', "{ maxStringLength: 3 }"),
  show("maxStringLength zero", '"abcd"', "{ maxStringLength: 0 }"),
  show("maxStringLength null", '"x".repeat(10005)', "{ maxStringLength: null }"),
  show("long string of lines", '"line one of the text\\n".repeat(6) + "end"'),
  show("lines in an object", '{ text: "line one of the text\\n".repeat(6), more: 1 }'),
  show("lines in an array", '["some line of a text\\n".repeat(5)]'),
  show("lines with compact true", '{ text: "line one of the text\\n".repeat(6) }', "{ compact: true }"),
  show(
    "numeric separator",
    "[1234567.891234, -1234567, 1234, 123, 1e21, NaN, 0.12345]",
    "{ numericSeparator: true }",
  ),
  show("numeric separator of bigints", "[123456789n, -1234n]", "{ numericSeparator: true }"),
];

const objects = [
  show("empty object", "{}"),
  show("flat object", '{ a: 1, b: "two", c: null, d: undefined, e: true }'),
  show("keys that need quotes", '{ "a-b": 1, 2: 3, "": 4, "it\'s": 5, "a\\nb": 6, ok_1: 7, ä: 8, $: 9 }'),
  show("symbol keys", '{ [Symbol("s")]: 1, [Symbol()]: 2, [Symbol("a\\nb")]: 3 }'),
  show("key __proto__", '{ ["__proto__"]: 1 }'),
  show("nested to the default depth", "{ a: { b: { c: { d: 1 } } } }"),
  show("nested arrays to the default depth", "[[[[1]]]]"),
  show("depth zero", "{ a: { b: 1 }, c: [1], d: new Map([[1, 2]]) }", "{ depth: 0 }"),
  show("depth negative", "{ a: 1 }", "{ depth: -1 }"),
  show("depth null", "{ a: { b: { c: { d: { e: [[[[1]]]] } } } } }", "{ depth: null }"),
  show("depth infinite", "{ a: { b: { c: { d: { e: 1 } } } } }", "{ depth: Infinity }"),
  show("four levels", "{ a: { b: { c: {} } } }"),
  show("five levels with compact", "{ a: { b: { c: { d: 1 } } } }", "{ depth: 9 }"),
  show(
    "line of 72 columns",
    '{ aaaaaaaaaa: "bbbbbbbbbbbbbbbbbbbb", cccccccccc: "dddddddddddddddddddd", e: 1 }',
  ),
  show(
    "line of 76 columns",
    '{ aaaaaaaaaa: "bbbbbbbbbbbbbbbbbbbb", cccccccccc: "dddddddddddddddddddd", eeeee: 1 }',
  ),
  show(
    "line of 77 columns",
    '{ aaaaaaaaaa: "bbbbbbbbbbbbbbbbbbbb", cccccccccc: "dddddddddddddddddddd", eeeeee: 1 }',
  ),
  ...[68, 69, 70, 71, 72, 73, 74, 75, 76].map((length) =>
    show(`one value of ${length} characters`, `{ a: "${"x".repeat(length)}" }`),
  ),
  show("many short entries", "Object.fromEntries(Array.from({ length: 30 }, (_, i) => ['key' + i, i]))"),
  show("objects in an array", "[{ id: 1, name: 'one' }, { id: 2, name: 'two' }, { id: 3, name: 'three' }]"),
  show(
    "many objects in an array",
    "Array.from({ length: 9 }, (_, i) => ({ id: i, name: 'n' + i, tags: ['a', 'b'] }))",
  ),
  show("value on a line of its own", '{ first: { second: { third: "x".repeat(60) } }, list: [1, 2, 3] }'),
  show("object that breaks its parent", `{ a: { b: "${"x".repeat(40)}", c: "${"y".repeat(40)}" }, d: 1 }`),
  show("breakLength small", "{ a: 1, b: 2, c: 3 }", "{ breakLength: 10 }"),
  show("breakLength infinite", '{ a: "x".repeat(60), b: "y".repeat(60) }', "{ breakLength: Infinity }"),
  show("compact false", "{ a: { b: [1, 2], c: {} }, d: new Map([[1, { x: 1 }]]) }", "{ compact: false }"),
  show("compact true", "{ a: { b: [1, 2], c: {} }, d: new Set([1]), e: 'x' }", "{ compact: true }"),
  show(
    "compact true beyond the line",
    `{ a: "${"x".repeat(50)}", b: { c: "${"y".repeat(50)}" } }`,
    "{ compact: true }",
  ),
  show(
    "compact true with class",
    `[new (class Foo { a = "${"x".repeat(50)}"; b = "${"y".repeat(50)}" })]`,
    "{ compact: true }",
  ),
  show("compact 1", "{ a: { b: { c: 1 } }, d: [1, 2, 3] }", "{ compact: 1 }"),
  show("compact 0", "{ a: { b: 1 }, d: [1, 2, 3] }", "{ compact: 0 }"),
  show("compact 5", "{ a: { b: { c: { d: { e: 1 } } } } }", "{ compact: 5, depth: 9 }"),
  show("null prototype", "Object.create(null)"),
  show("null prototype with keys", "Object.assign(Object.create(null), { a: 1, b: Object.create(null) })"),
  show("null prototype too deep", "{ a: { b: { c: Object.assign(Object.create(null), { x: 1 }) } } }"),
  show("prototype without prototype", "Object.create(Object.create(null))"),
  show(
    "prototype without prototype, with keys",
    "Object.assign(Object.create({ __proto__: null, a: 1 }), { b: 2 })",
  ),
  show("two prototypes without class", "Object.create(Object.create(Object.create(null)))"),
  show("sorted", "{ c: 1, a: 2, b: { z: 1, y: 2 } }", "{ sorted: true }"),
  show("sorted by a function", "{ c: 1, a: 2, b: 3 }", "{ sorted: (a, b) => (a < b ? 1 : -1) }"),
  show("sorted array properties", "Object.assign([3, 1, 2], { z: 1, b: 2 })", "{ sorted: true }"),
  show("sorted set", "new Set(['c', 'a', 'b'])", "{ sorted: true }"),
  show("hidden properties", "Object.defineProperty({ a: 1 }, 'hidden', { value: 2 })"),
  show(
    "hidden properties shown",
    "Object.defineProperty({ a: 1 }, 'hidden', { value: 2 })",
    "{ showHidden: true }",
  ),
  show(
    "old order of arguments",
    "Object.defineProperty({ a: { b: { c: 1 } } }, 'h', { value: 2 })",
    "true, 0",
  ),
  show("old order with colours", "[1, 'a']", "false, null, true"),
  show("arguments object", "(function () { return arguments; })(1, 'a')"),
  show("empty arguments object", "(function () { return arguments; })()"),
  show("toStringTag", "{ [Symbol.toStringTag]: 'Tag', a: 1 }"),
  show("toStringTag of a class", "new (class Foo { get [Symbol.toStringTag]() { return 'bar'; } })()"),
  show(
    "toStringTag equal to the class",
    "new (class Foo { get [Symbol.toStringTag]() { return 'Foo'; } })()",
  ),
  show("toStringTag that is no string", "new (class Foo { get [Symbol.toStringTag]() { return 5; } })()"),
  show(
    "toStringTag hidden on an object",
    "Object.defineProperty({ a: 1 }, Symbol.toStringTag, { value: 'T' })",
  ),
  show("Math", "Math[Symbol.toStringTag] && { m: Math }"),
  show("JSON", "JSON"),
  show("Reflect too deep", "{ a: { b: { c: { d: 1 } } } }", "{ depth: 1 }"),
];

const classes = [
  show("class instance", "new (class Point { x = 1; y = 2; })()"),
  show("empty class instance", "new (class Point {})()"),
  show("anonymous class instance", "new (class { x = 1; })()"),
  show("subclass instance", "new (class B extends (class A {}) { x = 1; })()"),
  show("private fields", "new (class P { #secret = 1; open = 2; })()"),
  show("instance too deep", "{ a: { b: { c: new (class Deep { x = 1; })() } } }"),
  show("getter on the prototype", "new (class G { get x() { return 1; } })()"),
  show(
    "getter on the prototype, hidden shown",
    "new (class G { get x() { return 1; } y = 2 })()",
    "{ showHidden: true }",
  ),
  shown("function as class", "function Old() { this.a = 1; }", "new Old()"),
  shown("prototype of a class", "class A { m() {} }", "A.prototype"),
  shown("constructor replaced", "class A {} A.prototype.constructor = Array;", "new A()"),
  shown("constructor removed", "class A {} delete A.prototype.constructor;", "new A()"),
  shown("constructor as own property", "", "{ constructor: 5, a: 1 }"),
  shown("constructor function as own property", "", "{ constructor: Map, a: 1 }"),
  show("class", "class Foo {}"),
  show("class with static", "class Foo { static a = 1; static b() {} }"),
  show("anonymous class", "[class {}][0]"),
  show("class that extends", "class B extends Map {}"),
  show("class that extends null", "class C extends null {}"),
  show("class that extends an anonymous class", "class D extends (class {}) {}"),
  show("class with a comment", "class Foo /* (a) { */ {}"),
  show("class with null prototype", "Object.setPrototypeOf(class Foo {}, null)"),
  show("class with a name property", "class Foo { static name = 'Bar' }"),
  show("function", "function named() {}"),
  show("arrow function", "(() => 1)"),
  show("arrow function in an object", "{ f: () => 1, g() {}, async h() {}, *i() {}, async *j() {} }"),
  show("async function", "async function a() {}"),
  show("generator function", "function* g() {}"),
  show("async generator function", "async function* ag() {}"),
  show("function with properties", "Object.assign(function f() {}, { a: 1, b: { c: 2 } })"),
  show("function with null prototype", "Object.setPrototypeOf(function f() {}, null)"),
  show(
    "function of a subclass",
    "Object.setPrototypeOf(function f() {}, class Foo extends Function {}.prototype)",
  ),
  show("bound function", "(function f() {}).bind(null)"),
  show("native function", "Array.prototype.map"),
  show("native class", "Map"),
  show("function named class", "({ class() {} }).class"),
  show("function too deep", "{ a: { b: { c: Object.assign(() => {}, { d: { e: 1 } }) } } }"),
];

const accessors = [
  show("getter", "{ get a() { return 1; } }"),
  show("setter", "{ set a(x) {} }"),
  show("getter and setter", "{ get a() { return 1; }, set a(x) {} }"),
  show("getter in an array", "Object.defineProperty([1, 2], 1, { get() { return 5; }, enumerable: true })"),
  show(
    "getters called",
    "{ get a() { return 1; }, get b() { return { c: 1 }; }, get c() { return null; } }",
    "{ getters: true }",
  ),
  show(
    "getters without setter called",
    "{ get a() { return 1; }, get b() { return 2; }, set b(x) {} }",
    "{ getters: 'get' }",
  ),
  show(
    "getters with setter called",
    "{ get a() { return 1; }, get b() { return 2; }, set b(x) {} }",
    "{ getters: 'set' }",
  ),
  show("getter that throws", "{ get a() { throw new Error('no'); } }", "{ getters: true }"),
  show(
    "getter of a string",
    "{ get a() { return 'text'; }, get s() { return Symbol('q'); } }",
    "{ getters: true }",
  ),
  show("getter of a function", "{ get a() { return undefined; } }", "{ getters: true }"),
  show("accessor of undefined", "Object.defineProperty({}, 'a', { get: undefined, enumerable: true })"),
];

const colors = [
  show("colours of primitives", "[1, 2n, 'a', true, null, undefined, Symbol('a')]", "{ colors: true }"),
  show(
    "colours of objects",
    "{ a: new Date(0), b: /x/, c: () => {}, d: { e: { f: { g: 1 } } }, 'g-h': 1 }",
    "{ colors: true }",
  ),
  show("colours of symbol keys", "{ [Symbol('k')]: [undefined, , 1] }", "{ colors: true }"),
  shown("colours changed", "inspect.styles.number = 'red';", "5", "{ colors: true }"),
  shown("colour names", "", "Object.keys(inspect.colors).sort()", "{ maxArrayLength: null }"),
  shown(
    "colour aliases",
    "",
    "[inspect.colors.grey, inspect.colors.faint, inspect.colors.bgGrey, inspect.colors.swapcolors]",
  ),
  shown("styles", "", "inspect.styles"),
];

const others = [
  {
    name: "default options",
    code: `const { inspect } = require("node:util");
return { ...inspect.defaultOptions };`,
  },
  {
    name: "default options changed",
    code: `const { inspect } = require("node:util");
inspect.defaultOptions = { depth: 0 };
inspect.defaultOptions.maxArrayLength = 1;
return [inspect({ a: { b: 1 } }), inspect([1, 2, 3])];`,
  },
  {
    name: "default options must be an object",
    code: `require("node:util").inspect.defaultOptions = null;`,
  },
  {
    name: "default options must not be a text",
    code: `require("node:util").inspect.defaultOptions = "bad";`,
  },
  {
    name: "inspect.custom is a registered symbol",
    code: `return require("node:util").inspect.custom === Symbol.for("nodejs.util.inspect.custom");`,
  },
  {
    name: "ten thousand objects",
    code: `const { inspect } = require("node:util");
const list = Array.from({ length: 10000 }, (_, id) => ({ id, name: "item " + id, tags: ["a", "b"] }));
const text = inspect(list, { maxArrayLength: null });
return [text.length, text.slice(0, 200), text.slice(-200)];`,
  },
  {
    name: "very deep object",
    code: `const { inspect } = require("node:util");
let deep = {};
for (let i = 0; i < 200; i++) deep = { deep };
return inspect(deep, { depth: Infinity }).length;`,
  },
  shown("namespace of a module", "const m = await import('node:querystring');", "Object.keys(m).length > 3"),
  shown(
    "globals changed by the program",
    "Array.prototype.extra = 1; Object.prototype.more = 2;",
    "[{ a: [1] }]",
  ),
  {
    name: "methods replaced by the program",
    code: `const { inspect } = require("node:util");
const { join } = Array.prototype;
Array.prototype.join = () => { throw new Error("replaced"); };
String.prototype.slice = String.prototype.includes = () => { throw new Error("replaced"); };
Map.prototype.get = Set.prototype.has = () => { throw new Error("replaced"); };
const text = inspect({ list: [1, "it's", new Map([[1, { a: 2 }]])], nested: { deep: { deeper: {} } } });
Array.prototype.join = join;
return text;`,
  },
];

export default [...primitives, ...objects, ...classes, ...accessors, ...colors, ...others];
