// Cases of `URL`, `URLSearchParams` and `node:url`.

const PARTS = "href origin protocol username password host hostname port pathname search hash".split(" ");
const SHOW = `const show = (u) => Object.fromEntries(${JSON.stringify(PARTS)}.map((p) => [p, u[p]]));`;

const literal = JSON.stringify;
/** If the message is the engine's own, only the error's class counts. */
const named = (code) => `try { ${code} } catch (e) { return e.name; }`;

const parsed = [
  "https://user:pa%20ss@sub.example.com:8443/a/b/../c?x=1&y=2#frag",
  "HTTP://EXAMPLE.com:80",
  "http://münchen.de/ä?ö#ü",
  "file:///etc/passwd",
  "data:text/plain,hello world",
  "mailto:a@b.c",
  "http://[::1]:3000/",
  "http://192.168.0.1.:80/",
  "http://0x7f.1/",
  "  http://a.com/\t\n ",
  "http://a.com\\b\\c",
  "http://a.com/a b'c\"d<e>`{f}",
  "http://a.com/?q=a b'c\"d<e>`{f}",
  "http://a.com/#q=a b'c\"d<e>`{f}",
  "blob:https://a.com/123",
  "http://a.com?",
  "http://a.com#",
  "http://a.com/%zz%41",
  "postgres://u:p@h:5432/db?ssl=true",
  "javascript:alert(1)",
  "http://x\ud800y.com/\ud800",
  "https://例え.jp/パス",
  "http://a.com:00080/",
  "foo:/bar/../baz",
  "foo://///////",
];
const broken = [
  "",
  "a",
  "/a/b",
  "http://",
  "http://a b/",
  "http://a:99999/",
  "http://[::1/",
  "//a.com",
  "http://%zz/",
  "http:",
  "http://a<b>.com",
  "1http://a",
];
const based = [
  ["../x", "http://a.com/b/c/d"],
  ["/x", "http://a.com/b/c/d"],
  ["//b.org/x", "https://a.com/b"],
  ["?q", "http://a.com/b?c#d"],
  ["#h", "http://a.com/b?c#d"],
  ["", "http://a.com/b?c#d"],
  ["http://c.com", "http://a.com"],
  ["x", "file:///a/b"],
  ["x:y", "http://a.com"],
  ["./.././x/./y/", "http://a.com/b/c"],
];
const set = [
  ["href", "http://b.org/x?y#z"],
  ["href", "nonsense"],
  ["protocol", "http"],
  ["protocol", "ftp:"],
  ["protocol", "foo"],
  ["username", "me@you"],
  ["username", ""],
  ["password", "a:b"],
  ["host", "b.org:99"],
  ["host", "b.org"],
  ["host", ""],
  ["hostname", "b.org"],
  ["hostname", "b.org:1"],
  ["port", "80"],
  ["port", 443],
  ["port", ""],
  ["port", "12ab"],
  ["port", "70000"],
  ["port", "x"],
  ["pathname", "x y/../z"],
  ["pathname", ""],
  ["search", "a=1 2"],
  ["search", "?b"],
  ["search", ""],
  ["hash", "x y"],
  ["hash", "#z"],
  ["hash", ""],
  ["origin", "http://z"],
];

const params = [
  ["string", `new URLSearchParams("a=1&b=2&a=3")`],
  ["string with question mark", `new URLSearchParams("??a=1")`],
  ["string odd", `new URLSearchParams("&&a&=b&c=&d==e&+f=g+h&%41=%zz&=")`],
  ["empty", `new URLSearchParams()`],
  ["null", `new URLSearchParams(null)`],
  ["undefined", `new URLSearchParams(undefined)`],
  ["number", `new URLSearchParams(12)`],
  ["record", `new URLSearchParams({ a: 1, b: [2, 3], c: null, d: undefined, e: { f: 1 } })`],
  ["pairs", `new URLSearchParams([["a", 1], ["b", 2], ["a", 3]])`],
  ["map", `new URLSearchParams(new Map([["x", "y"], ["z", 1]]))`],
  ["params", `new URLSearchParams(new URLSearchParams("q=1&q=2"))`],
  ["generator", `new URLSearchParams((function* () { yield ["a", "b"]; yield new Set(["c", "d"]); })())`],
  ["string object", `new URLSearchParams(new String("ab"))`],
  ["surrogates", `new URLSearchParams({ "\\ud800": "\\udc00x" })`],
  ["utf8", `new URLSearchParams("n=%C3%A4&m=ä&k=%F0%9F%98%80&bad=%C3")`],
  ["special", `new URLSearchParams({ a: "!'()*-._~ @&=+#%/\\u0000\\n" })`],
  ["long list", `new URLSearchParams([[1, 2, 3]])`],
  ["short list", `new URLSearchParams([[1]])`],
  ["list of numbers", `new URLSearchParams([1])`],
  ["list of null", `new URLSearchParams([null])`],
  ["iterator no function", `new URLSearchParams({ [Symbol.iterator]: 1 })`],
  ["function", `new URLSearchParams(Object.assign(() => {}, { a: 1 }))`],
  ["BOM", `new URLSearchParams("\\ufeffa=b&%EF%BB%BFc=d")`],
];
const using = {
  "params append": `p.append("a", 1); p.append("z", null); return String(p);`,
  "params append too few": `p.append("a");`,
  "params append none": `p.append();`,
  "params delete": `p.delete("a"); return String(p);`,
  "params delete value": `p.delete("a", 3); return String(p);`,
  "params delete value undefined": `p.delete("a", undefined); return String(p);`,
  "params delete none": `p.delete();`,
  "params get": `return [p.get("a"), p.get("b"), p.get("nothing"), p.get("__proto__")];`,
  "params get none": `p.get();`,
  "params getAll": `return [p.getAll("a"), p.getAll("nothing")];`,
  "params getAll value like name": `return new URLSearchParams("a=b&b=c&c=a").getAll("b");`,
  "params getAll none": `p.getAll();`,
  "params has": `return [p.has("a"), p.has("a", "3"), p.has("a", "9"), p.has("z"), p.has("a", undefined)];`,
  "params has none": `p.has();`,
  "params set": `p.set("a", "x y"); p.set("n", 5); return String(p);`,
  "params set too few": `p.set("a");`,
  "params sort": `
    const q = new URLSearchParams("z=1&a=2&\\u{1f600}=3&\\uffee=4&a=1&Z=0"); q.sort(); return [...q];`,
  "params size": `p.append("q", 1); return [p.size, new URLSearchParams().size];`,
  "params size read only": named(`p.size = 4; return p.size;`),
  "params forEach": `
    const r = []; p.forEach(function (v, k, o) { r.push([v, k, o === p, this.t]); }, { t: 1 }); return r;`,
  "params forEach no function": `p.forEach(3);`,
  "params forEach none": `p.forEach();`,
  "params forEach grows": `
    let n = 0; p.forEach((v, k) => { if (n++ < 3) p.append("n" + n, v); }); return [n, String(p)];`,
  "params iterate": `return [[...p], [...p.keys()], [...p.values()], [...p.entries()]];`,
  "params iterate live": `const r = []; for (const [k] of p) { r.push(k); p.delete("b"); } return r;`,
  "params iterator tag": `
    const tag = Object.prototype.toString.call(p);
    return [String(p.entries()), tag, p[Symbol.iterator] === p.entries];`,
  "params iterator next": `
    const i = p.keys(); return [i.next(), i.next(), i.next(), i.next(), i[Symbol.iterator]() === i];`,
  "params iterator wrong this": `p.keys().next.call({});`,
  "params iterator helpers": `return Array.from(p, ([k, v]) => k + v);`,
  "params wrong this get": `URLSearchParams.prototype.get.call({}, "a");`,
  "params wrong this toString": `URLSearchParams.prototype.toString.call(null);`,
  "params without new": named(`URLSearchParams("a");`),
  "params toString symbol": named(`p.append(Symbol("a"), 1);`),
  "params names": `return Object.keys(URLSearchParams.prototype);`,
  "params json": `return JSON.stringify(p);`,
  "params fromEntries": `return Object.fromEntries(p);`,
  "params template": `return \`\${p}\`;`,
};
const urls = {
  "url throws with input": `
    try { new URL("x", "y:"); } catch (e) { return [e.input, e.base, Object.keys(e), e instanceof TypeError,
    String(e)]; }`,
  "url throws without base": `try { new URL("x"); } catch (e) { return [e.input, Object.keys(e)]; }`,
  "url no argument": `new URL();`,
  "url without new": named(`URL("http://a");`),
  "url symbol": named(`new URL(Symbol("a"));`),
  "url from object": `return new URL({ toString: () => "http://a" }).href;`,
  "url from url": `return new URL(new URL("http://a/b")).href;`,
  "url base url": `return new URL("x", new URL("http://a/b/")).href;`,
  "url base undefined": `return new URL("http://a", undefined).href;`,
  "url base null": `return new URL("x", null).href;`,
  "url canParse": `
    return [URL.canParse("http://a"), URL.canParse("a"), URL.canParse("a", "http://b"), URL.canParse("a",
    "b"), URL.canParse(undefined)];`,
  "url canParse none": `URL.canParse();`,
  "url parse": `return [URL.parse("http://a")?.href, URL.parse("a"), URL.parse("a", "http://b").href];`,
  "url parse none": `URL.parse();`,
  "url text": `
    const u = new URL("http://a/b"); return [String(u), u.toString(), u.toJSON(), JSON.stringify({ u }),
    u + ""];`,
  "url tag": `
    return [Object.prototype.toString.call(new URL("http://a")), Object.keys(new URL("http://a")),
    Object.keys(URL.prototype).sort()];`,
  "url toString wrong this": `URL.prototype.toString.call({});`,
  "url origin read only": `"use strict"; ${named(`new URL("http://a").origin = "x";`)}`,
  "url params to search": `
    const u = new URL("http://a/?x=1"); const p = u.searchParams;
    p.append("y", "a b"); const one = [u.search, u.href];
    p.delete("x"); p.delete("y"); return [one, u.search, u.href, u.searchParams === p];`,
  "url search to params": `
    const u = new URL("http://a/?x=1"); const p = u.searchParams;
    u.search = "?z=2&w=%20"; const one = [...p]; u.href = "http://b/?k=v"; const two = [...p];
    u.search = ""; return [one, two, [...p], u.href];`,
  "url params set and sort": `
    const u = new URL("http://a/?b=1&a=2#h"); u.searchParams.set("b", "ü&="); u.searchParams.sort();
    return [u.href, u.hash, u.search];`,
  "url params then part": `
    const u = new URL("http://a/?b=1"); u.searchParams.append("c", 2); u.pathname = "/p"; u.hash = "h";
    return u.href;`,
  "url params keep spelling": `const u = new URL("http://a/?b=%41 x"); u.searchParams; return u.href;`,
  "url params rewrite spelling": `
    const u = new URL("http://a/?b=%41%20x~'"); u.searchParams.append("c", ""); return u.href;`,
  "url params many": `
    const u = new URL("http://a/"); for (let i = 0; i < 2000; i++) u.searchParams.append("k" + i, "v" + i);
    return [u.href.length, u.searchParams.size];`,
  "url searchParams read only": `"use strict"; ${named(`new URL("http://a").searchParams = 1;`)}`,
  "url inspect deep": `
    const u = new URL("http://a");
    return u[Symbol.for("nodejs.util.inspect.custom")](-1, {}, () => "") === u;`,
  "url subclass": `
    class U extends URL { get twice() { return this.href + this.href; } } return new U("http://a").twice;`,
  "url long": `
    const u = new URL("http://a/" + "x".repeat(1e6) + "?" + "y".repeat(1e6)); return [u.pathname.length,
    u.search.length];`,
};
const legacy = [
  "http://user:pass@sub.example.com:8080/p/a/t/h?query=string#hash",
  "/a/b?x=1#y",
  "mailto:a@b.c",
  "file:///etc/passwd",
  "javascript:alert(1)",
  "//host/path",
  "HTTP://EXAMPLE.com",
  "http://a b/c d",
  "http://x.com/a{b}",
  "http://a.com:80",
  "http://a.com?q",
  "http://[::1]:80/",
  "x:y",
  "",
  "  http://a.com/  ",
  "http://a.com\\b\\c?d\\e",
  "data:text/plain,hi",
  "a.b.com/x",
  "http://münchen.de/ä?ö#ü",
  "http://a.com/%20?a=b&a=c'",
  "http://a@b@c/",
  "https:foo/bar",
  "/a{b}?c d",
  "/a{b}?c'd",
  "//h:x/{y}",
  "HTTP:a.com/b",
  "http://[::1]:x/",
  "http://1.2.3.4:80/",
  "postgres://u:p@h:5432/db?ssl=true",
  "http://u%20x:p%40@h/",
  "http://a.com/x;y=1?z",
  "#h",
  "?q",
  "http://a.com:/x",
  "coap:x#y?z",
  "//u:p@h/x",
];
const helpers = {
  "legacy parse query": `return [url.parse("http://a.com/?a=b&a=c&d", true), url.parse("/p", true)];`,
  "legacy parse slashes": `return url.parse("//h/p?q", false, true);`,
  "legacy parse number": `url.parse(1);`,
  "legacy parse bad user": `url.parse("http://%zz@b/");`,
  "legacy Url": `
    const u = url.parse("http://a/b"); return [u instanceof url.Url, url.parse(u) === u, u.format(),
    Object.keys(u)];`,
  "format parts": `
    return [
    url.format({ protocol: "http", host: "a.com", pathname: "x", query: { a: [1, 2], b: "c d" } }),
    url.format({ protocol: "https:", hostname: "a.com", port: 8080, pathname: "/x?y#z", search: "q=1#2",
    hash: "h" }),
    url.format({ protocol: "mailto", auth: "a b", hostname: "b.c" }), url.format({ hostname: "::1",
    slashes: true }),
    url.format({ protocol: "file", pathname: "/x" }), url.format({ pathname: "a", search: "?b",
    query: { c: 1 } }), url.format({}),
    url.format({ protocol: "foo", slashes: true, host: "h", pathname: "p" }), url.format({ protocol: "foo",
    host: "h", auth: "u:p@" })];`,
  "format string": `return [url.format("HTTP://A.com/ b"), url.format("")];`,
  "format null": `url.format(null);`,
  "format none": `url.format();`,
  "format url": `
    const u = new URL("http://u:p@xn--mnchen-3ya.de/p?q#h");
    return [url.format(u), url.format(u, { fragment: false }), url.format(u, { auth: false, search: false }),
    url.format(u, { unicode: true })];`,
  "format url bad options": `url.format(new URL("http://a"), true);`,
  resolve: `
    return [
    url.resolve("/one/two/three", "four"), url.resolve("http://example.com/", "/one"),
    url.resolve("http://example.com/one", "/two"), url.resolve("http://a.com/b/c/d?q#h", "../e?f"),
    url.resolve("one/two", "three"),
    url.resolve("http://a.com/b", "https://c.org/d"), url.resolve("http://a.com/b?c", "#h"),
    url.resolve("/a/b", "../../../c")];`,
  "resolve many": `
    const bases = ["http://a.com:80/b/c/d?q#h", "http://u:p@a.com", "/one/two/three", "one/two"];
    const relatives = ["e", "./e", "../e", "../../../e", "/e", "//b.org/e", "?x", "#y", "", ".", "..",
      "e/../f/.", "https://c.org/x/../y", "ftp://d.org", "a b"];
    return bases.map((b) => relatives.map((r) => url.resolve(b, r)));`,
  "resolve number": `url.resolve(1, "a");`,
  fileURLToPath: `
    return [url.fileURLToPath("file:///a/b%20c"), url.fileURLToPath(new URL("file:///ä/%25?x#y")),
    url.fileURLToPath("file://localhost/a")];`,
  "fileURLToPath scheme": `url.fileURLToPath("http://a");`,
  "fileURLToPath host": `url.fileURLToPath("file://host/a");`,
  "fileURLToPath slash": `url.fileURLToPath("file:///a%2Fb");`,
  "fileURLToPath number": `url.fileURLToPath(1);`,
  "fileURLToPath no url": `url.fileURLToPath("/a");`,
  "fileURLToPath object": `url.fileURLToPath({});`,
  pathToFileURL: `
    return ["/a b", "/a/", "/x/../y", "/ä?#%\\\\\\n\\t\\r", "/a//b", "/~[]{}|^\`"]
      .map((p) => url.pathToFileURL(p).href);`,
  "pathToFileURL is URL": `return url.pathToFileURL("/a") instanceof URL;`,
  "pathToFileURL number": `url.pathToFileURL(3);`,
  domains: `
    return [
    url.domainToASCII("español.com"), url.domainToASCII("中文.com"), url.domainToASCII("xn--iñvalid.com"),
    url.domainToASCII("A.COM"),
    url.domainToUnicode("xn--espaol-zwa.com"), url.domainToUnicode("xn--fiq228c.com"),
    url.domainToUnicode("xn--iñvalid.com"),
    url.domainToUnicode("a.com"), url.domainToUnicode("xn--n3h.net"),
    url.domainToUnicode("xn--bcher-kva.xn--p1ai")];`,
  "domainToASCII none": `url.domainToASCII();`,
  urlToHttpOptions: `return url.urlToHttpOptions(new URL("https://a%20:b@測試.com:8080/p?q#h"));`,
  "urlToHttpOptions address": `return url.urlToHttpOptions(new URL("http://[::1]/"));`,
  names: `return [url.URL === URL, url.URLSearchParams === URLSearchParams, Object.keys(url).sort()];`,
};

const prefixed = (prefix, cases) =>
  Object.entries(cases).map(([name, code]) => ({ name, code: prefix + code }));

export default [
  ...parsed.map((input) => ({
    name: `parse ${input}`,
    code: `${SHOW} return show(new URL(${literal(input)}));`,
  })),
  ...broken.map((input) => ({ name: `broken ${input}`, code: `return new URL(${literal(input)}).href;` })),
  ...based.map(([input, base]) => ({
    name: `base ${base} and ${input}`,
    code: `return new URL(${literal(input)}, ${literal(base)}).href;`,
  })),
  ...set.map(([part, value]) => ({
    name: `set ${part} to ${value}`,
    code: `
      ${SHOW} const u = new URL("https://u:p@a.com:8443/b?c#d"); u[${literal(part)}] = ${literal(value)};
      return show(u);`,
  })),
  ...set
    .filter(([part]) => /host|port|user|path|protocol/.test(part))
    .slice(0, 12)
    .map(([part, value]) => ({
      name: `set ${part} of mailto to ${value}`,
      code: `const u = new URL("mailto:x@y"); u[${literal(part)}] = ${literal(value)}; return u.href;`,
    })),
  ...params.map(([name, code]) => ({
    name: `params of ${name}`,
    code: `const p = ${code}; return [[...p], String(p)];`,
  })),
  ...prefixed(`const p = new URLSearchParams("a=1&b=2&a=3"); `, using),
  ...prefixed("", urls),
  ...legacy.map((input) => ({
    name: `legacy parse ${input}`,
    code: `return require("node:url").parse(${literal(input)});`,
  })),
  ...prefixed(`const url = require("node:url"); `, helpers),
];
