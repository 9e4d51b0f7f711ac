// Cases of `node:querystring`.

const cases = {
  parse: `
    return [qs.parse("a=1&b=2&a=3&c&=d&"), qs.parse("a%20b=c+d&%zz=%41%C3%A4"), qs.parse(""),
    qs.parse("a==b")];`,
  "parse no text": `return [qs.parse(1), qs.parse(null), qs.parse()];`,
  "parse separators": `return [qs.parse("a:1;b:2", ";", ":"), qs.parse("a--1__b--2", "__", "--")];`,
  "parse most keys": `
    return [qs.parse("a=1&b=2&c=3", null, null, { maxKeys: 2 }),
    Object.keys(qs.parse("x&".repeat(3) + Array.from({ length: 1200 }, (_, i) => "k" + i).join("&"))).length];`,
  "parse all keys": `
    return Object.keys(qs.parse(Array.from({ length: 1200 }, (_, i) => "k" + i).join("&"), "&", "=",
    { maxKeys: 0 })).length;`,
  "parse own decoder": `
    return qs.parse("a=b+c", null, null, { decodeURIComponent: (s) => s.toUpperCase() });`,
  "parse throwing decoder": `
    return qs.parse("a=b%20c", null, null, { decodeURIComponent: () => { throw new Error("no"); } });`,
  "parse prototype": `
    const o = qs.parse("a=1"); return [Object.getPrototypeOf(o) === null,
    qs.parse("__proto__=1&toString=2").toString];`,
  stringify: `
    return [qs.stringify({ a: 1, b: [2, "x y"], c: "", d: true, e: null, f: undefined, g: 3n, h: {},
    i: NaN }), qs.stringify({ "ä ö": "&=" })];`,
  "stringify separators": `return qs.stringify({ a: 1, b: 2 }, ";", ":");`,
  "stringify own encoder": `
    return qs.stringify({ a: "x y" }, null, null, { encodeURIComponent: (s) => "<" + s + ">" });`,
  "stringify no object": `
    return [qs.stringify("a"), qs.stringify(null), qs.stringify(), qs.stringify([1, 2])];`,
  "stringify surrogate": `qs.stringify({ a: "\\ud800" });`,
  "stringify empty list": `return qs.stringify({ a: [], b: 1 });`,
  escape: `
    return [qs.escape("a b!'()*-._~&ä\\u{1f600}"), qs.escape(5), qs.escape({}), qs.escape(undefined)];`,
  unescape: `
    return [qs.unescape("a%20b+c"), qs.unescape("%zz"), qs.unescape("%C3"), qs.unescape("%C3%A4%41%FF")];`,
  names: `return [qs.encode === qs.stringify, qs.decode === qs.parse];`,
};

export default Object.entries(cases).map(([name, code]) => ({
  name,
  code: `const qs = require("node:querystring"); ${code}`,
}));
