// Cases of `node:querystring`.

const qs = (name, answer, setup = "") => ({
  name,
  code: `const qs = require("node:querystring");\n${setup}\nreturn ${answer};`.replace("\n\n", "\n"),
});
const parse = (name, inputs) => qs(`parse: ${name}`, `qs.parse(${inputs})`);
const stringify = (name, inputs) => qs(`stringify: ${name}`, `qs.stringify(${inputs})`);
const escape = (name, input) => qs(`escape: ${name}`, `qs.escape(${input})`);
const unescape = (name, input) => qs(`unescape: ${name}`, `qs.unescape(${input})`);

const parsing = [
  parse("two pairs", "'a=1&b=2'"),
  parse("the same name", "'a=1&a=2&a=3'"),
  parse("without value", "'a&b=&c'"),
  parse("without name", "'=1&=2'"),
  parse("equals signs only", "'=&=='"),
  parse("equals signs in the value", "'a=b=c==d'"),
  parse("empty pairs", "'&&a=1&&b=2&&'"),
  parse("separators only", "'&&&'"),
  parse("empty", "''"),
  parse("question mark", "'?a=1'"),
  parse("plus", "'a+b=c+d+'"),
  parse("escapes", "'a%20b=%C3%A4%26%3D&x=%2B'"),
  parse("lower-case escapes", "'%c3%a4=%e2%82%ac'"),
  parse("emoji", "'x=%F0%9F%98%80'"),
  parse("malformed escape", "'a=100%&b=%zz&c=%4'"),
  parse("malformed and right escapes", "'a=100%+%41'"),
  parse("malformed bytes", "'a=%FF%41&b=%C3'"),
  parse("malformed escape beside a letter beyond ASCII", "'a=\\u00fc%zz%41'"),
  parse("letters beyond ASCII", "'\\u00e4=\\u20ac&x=\\ud83d\\ude00'"),
  parse("names of properties", "'__proto__=1&constructor=2&toString=3&hasOwnProperty=4'"),
  parse("indexes", "'0=a&1=b&0=c'"),
  parse("brackets", "'a[]=1&a[]=2&b[x]=3'"),
  parse("other separator", "'a=1;b=2', ';'"),
  parse("other separator and sign", "'a:1;b:2', ';', ':'"),
  parse("long separators", "'a==1&&b==2&c', '&&', '=='"),
  parse("empty separators", "'a=1&b=2', '', ''"),
  parse("null separators", "'a=1&b=2', null, null"),
  parse("number as separator", "'a=15b=2', 5"),
  parse("maxKeys", "'a=1&b=2&c=3', null, null, { maxKeys: 2 }"),
  parse("maxKeys zero", "'a=1&b=2', null, null, { maxKeys: 0 }"),
  parse("maxKeys and empty pairs", "'&&a=1&b=2', null, null, { maxKeys: 3 }"),
  parse("maxKeys as a text", "'a=1&b=2', null, null, { maxKeys: '1' }"),
  qs(
    "parse: a thousand keys at most",
    "Object.keys(qs.parse(text)).length",
    "const text = Array.from({ length: 1500 }, (_, i) => `k${i}=v`).join('&');",
  ),
  qs(
    "parse: more keys",
    "Object.keys(qs.parse(text, null, null, { maxKeys: 0 })).length",
    "const text = Array.from({ length: 1500 }, (_, i) => `k${i}=v`).join('&');",
  ),
  parse("other decoding", "'a=1&b=x+y', null, null, { decodeURIComponent: (text) => `<${text}>` }"),
  parse(
    "other decoding of empty texts",
    "'a=&=b', null, null, { decodeURIComponent: (text) => `<${text}>` }",
  ),
  parse(
    "other decoding that throws",
    "'a=%41+b&%zz=%41', null, null, { decodeURIComponent() { throw new Error('no'); } }",
  ),
  parse("decoding that is no function", "'a=%41', null, null, { decodeURIComponent: 5 }"),
  parse("a number", "5"),
  parse("null", "null"),
  parse("nothing", ""),
  parse("an object", "{ a: 1 }"),
  qs("parse: prototype", "Object.getPrototypeOf(qs.parse('a=1'))"),
  qs("parse: changed unescape", "qs.parse('a=%41')", "qs.unescape = (text) => `!${text}`;"),
  qs(
    "parse: long text",
    "[r.a.length, r.b.length]",
    "const r = qs.parse(`a=${'x%20'.repeat(50000)}&b=${'+'.repeat(50000)}`);",
  ),
  qs(
    "parse: name that comes often",
    "qs.parse(Array.from({ length: 500 }, (_, i) => `a=${i}`).join('&')).a.length",
  ),
  qs("decode is parse", "qs.decode === qs.parse"),
];

const writing = [
  stringify("two pairs", "{ a: 1, b: 'x' }"),
  stringify("arrays", "{ a: [1, 2, 'x'], b: [] }"),
  stringify("empty arrays between", "{ a: [], b: 1, c: [], d: 2 }"),
  stringify(
    "values of all types",
    "{ a: true, b: false, c: null, d: undefined, e: NaN, f: Infinity, g: 10n, h: {}, i: () => 1, j: " +
      "Symbol() }",
  ),
  stringify("values in an array", "{ a: [null, undefined, true, {}, [1], 5n] }"),
  stringify("numbers", "{ a: 1.5, b: -0, c: 1e21, d: -1e21, e: 1e-7, f: 1e20 }"),
  stringify("escapes", "{ 'a b': 'c&d=e', 'ä': '€', '\\u{1f600}': 'x' }"),
  stringify("what needs no escape", '{ "a!-._~\'()*": "A9" }'),
  stringify("empty texts", "{ a: '', '': 'b' }"),
  stringify("empty object", "{}"),
  stringify("other separator", "{ a: 1, b: 2 }, ';'"),
  stringify("other separator and sign", "{ a: [1, 2], b: 3 }, ';', ':'"),
  stringify("null separators", "{ a: 1, b: 2 }, null, null"),
  stringify(
    "other encoding",
    "{ a: 'x y', b: 5, c: null, d: ['u', 'v'] }, null, null, { encodeURIComponent: (text) => `<${text}>` }",
  ),
  stringify("encoding that is no function", "{ a: ' ' }, null, null, { encodeURIComponent: 5 }"),
  stringify("a text", "'a=1'"),
  stringify("null", "null"),
  stringify("nothing", ""),
  stringify("a number", "5"),
  stringify("an array", "['x', 'y']"),
  stringify("a map", "new Map([[1, 2]])"),
  stringify(
    "inherited and hidden properties",
    "Object.create({ a: 1 }, { b: { value: 2 }, c: { value: 3, enumerable: true } })",
  ),
  stringify("lone surrogate", "{ a: 'x\\ud800' }"),
  qs("stringify: changed escape", "qs.stringify({ a: 'b', c: 5 })", "qs.escape = (text) => `!${text}`;"),
  qs("stringify and parse", "qs.parse(qs.stringify({ a: 'ä &=+%', b: ['1', '2'] }))"),
  qs("encode is stringify", "qs.encode === qs.stringify"),
];

const single = [
  escape("a text", "'a b&c=d/e?f+g%'"),
  escape("letters beyond ASCII", "'ä€\\u{1f600}'"),
  escape("empty", "''"),
  escape("a number", "5"),
  escape("null", "null"),
  escape("undefined", "undefined"),
  escape("an object", "{ toString: () => 'x y' }"),
  escape("an array", "['a', 'b c']"),
  escape("a lone surrogate at the end", "'\\ud800'"),
  unescape("a text", "'a%20b%C3%A4'"),
  unescape("plus", "'a+b'"),
  unescape("malformed", "'%41%zz%'"),
  unescape("malformed bytes", "'%FF\\u00fc'"),
  unescape("a number", "5"),
  qs("unescapeBuffer", "[...qs.unescapeBuffer('a%20%FF%zz+')]"),
  qs("unescapeBuffer with spaces", "[...qs.unescapeBuffer('a+b%41', true)]"),
  qs("unescapeBuffer of an escape at the end", "[...qs.unescapeBuffer('%4')]"),
  qs("exports", "Object.keys(qs).sort()"),
  qs(
    "named import",
    "[module.parse === qs.parse, module.default === qs]",
    "const module = await import('node:querystring');",
  ),
  qs("without prefix", "require('querystring') === qs"),
];

export default [...parsing, ...writing, ...single];
