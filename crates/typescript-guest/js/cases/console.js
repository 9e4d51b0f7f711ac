// Cases of `console`. A separate console shows which stream receives what; the global one prints.

const SETUP = `const { Console } = require("node:console");
const lines = [];
const to = (name) => ({ write: (text) => lines.push(name + text) });
const mine = (options) => new Console({ stdout: to(""), stderr: to("! "), ignoreErrors: false, ...options });
const c = mine();`;
const on = (name, calls) => ({ name, code: `${SETUP}\n${calls}\nreturn lines.join("");` });
const table = (name, inputs) => on(`table of ${name}`, `c.table(${inputs});`);
const printed = (name, calls) => ({ name: `${name}, printed`, code: calls });

const methods = [
  on("log", 'c.log("a", 1, { b: 2 });'),
  on("log without arguments", "c.log();"),
  on("log with placeholders", 'c.log("%s is %d%%", "x", 5, "more");'),
  on("log of lines", 'c.log("a\\nb");'),
  on("log of an empty text", 'c.log("");'),
  on("info and debug", 'c.info("i"); c.debug("d"); c.dirxml({ a: 1 }, [2]);'),
  on("warn and error", 'c.warn("w"); c.error("e %s", 1);'),
  on("log of an object", "c.log({ a: { b: { c: { d: 1 } } } });"),
  on("log of a long array", "c.log(Array.from({ length: 120 }, (_, i) => i));"),
  on("log of null, undefined and symbols", 'c.log(null, undefined, Symbol("a"));'),
  on(
    "log of an object that prints itself",
    'c.log({ [require("node:util").inspect.custom]() { return "mine"; } });',
  ),
  on("dir", "c.dir({ a: { b: { c: { d: 1 } } } });"),
  on("dir with options", "c.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 });"),
  on("dir of a text", 'c.dir("a\\nb");'),
  on(
    "dir ignores custom printing",
    'c.dir({ a: 1, [Symbol.for("nodejs.util.inspect.custom")]() { return "mine"; } }, { showHidden: ' +
      "false });",
  ),
  on("dir with colours", "c.dir([1], { colors: true });"),
  on("assert that holds", 'c.assert(true, "no"); c.assert(1); c.assert({}, "no");'),
  on("assert that fails", "c.assert(false);"),
  on("assert with a text", 'c.assert(0, "wrong %s", "x");'),
  on("assert with an object", "c.assert(null, { a: 1 }, 2);"),
  on("assert without arguments", "c.assert();"),
  on("assert with a percent sign", 'c.assert(false, "100%", 5);'),
  on("count", 'c.count(); c.count(); c.count("a"); c.count(undefined); c.count(5); c.count("default");'),
  on(
    "count after reset",
    'c.count("a"); c.count("a"); c.countReset("a"); c.count("a"); c.countReset("none"); c.countReset();',
  ),
  on("count with percent sign", 'c.count("50%s");'),
  on("count of null", "c.count(null); c.count({});"),
  on("count of a symbol", "try { c.count(Symbol()); } catch (error) { c.log(error.name); }"),
  on(
    "group",
    'c.group(); c.log("a"); c.group("G", 1); c.log("b\\nc"); c.groupEnd(); c.error("d"); c.groupEnd(); ' +
      'c.log("e");',
  ),
  on("groupEnd too often", 'c.groupEnd(); c.group("a"); c.groupEnd(); c.groupEnd(); c.log("b");'),
  on("groupCollapsed", 'c.groupCollapsed("a"); c.info("b"); c.groupEnd();'),
  on(
    "group of objects",
    "c.group(); c.log({ a: 'x'.repeat(50), b: 'y'.repeat(50) }); c.dir({ a: 1 }); c.table([[1]]);",
  ),
  on("groups of both streams", 'c.group("a"); c.warn("w"); c.group("b"); c.warn("x\\ny");'),
  on("trace", 'c.trace("at %s", "x"); lines[0] = lines[0].split("\\n")[0];'),
  on("trace without arguments", 'c.trace(); lines[0] = lines[0].split("\\n")[0];'),
  on("trace has frames", 'c.trace("a"); lines[0] = String(/\\n    at /.test(lines[0]));'),
  on("clear prints nothing", "c.clear();"),
  on(
    "time",
    'c.time("t"); c.timeLog("t", "x", { a: 1 }); c.timeEnd("t"); lines.forEach((line, i) => (lines[i] ' +
      '= line.replace(/[\\d.]+(ms|s)/, "T")));',
  ),
  on("time without label", 'c.time(); c.timeEnd(); lines[0] = lines[0].replace(/[\\d.]+(ms|s)/, "T");'),
  on("time that was not started", 'c.timeEnd("none"); c.timeLog("none"); c.time("a"); c.time("a");'),
  on("time ends once", 'c.time("a"); c.timeEnd("a"); c.timeEnd("a"); lines[0] = lines.length + "\\n";'),
  on("unused marks", "c.timeStamp?.(); c.profile?.(); c.profileEnd?.();"),
  on(
    "methods work alone",
    "const { log, table, group } = c; log(1); table([[1]]); group('g'); [2].forEach(c.log);",
  ),
  on(
    "replaced log serves others",
    'c.log = (...values) => lines.push("L" + values.join() + "\\n"); c.count(); c.group("a"); ' +
      'c.table(5); c.info("i");',
  ),
  on(
    "replaced warn serves assert",
    'c.warn = (...values) => lines.push("W" + values.join() + "\\n"); c.assert(false, "x");',
  ),
];

const tables = [
  table("rows", '[{ a: 1, b: "x" }, { a: 2, c: true }]'),
  table("arrays", "[[1, 2], [3, 4, 5]]"),
  table("primitives", '[1, "a", null, undefined, true, Symbol("s")]'),
  table("mixed rows", '[{ a: 1 }, 5, [2], "x"]'),
  table("an object of objects", "{ x: { a: 1 }, y: { b: 2 } }"),
  table("an object of primitives", '{ x: 1, y: "two" }'),
  table("chosen columns", "[{ a: 1, b: 2 }, { a: 3, b: 4 }], ['b']"),
  table("chosen columns that are missing", "[{ a: 1 }, 5], ['a', 'z']"),
  table("no chosen columns", "[{ a: 1 }], []"),
  table("nested values", "[{ a: { b: 1 }, c: [1, 2, 3, 4], d: { x: 1, y: 2, z: 3 }, e: () => 1 }]"),
  table("a map", "new Map([['a', 1], ['b', { c: 2 }]])"),
  table("a set", "new Set([1, 'a'])"),
  table("keys of a map", "new Map([['a', 1]]).keys()"),
  table("entries of a map", "new Map([['a', 1], ['b', 2]]).entries()"),
  table("values of a set", "new Set([1]).values()"),
  table("an empty array", "[]"),
  table("an empty object", "{}"),
  table("wide characters", '[{ name: "日本", n: 1 }, { name: "ab", n: 22 }]'),
  table("lines", '[{ a: "x\\ny" }]'),
  table("null", "null"),
  table("a number", "5"),
  table("a text", '"text"'),
  table("nothing", ""),
  table("a typed array", "new Uint8Array([1, 2])"),
  table("dates", "[new Date(0)]"),
  table("functions", "[() => 1, class A {}]"),
  table("holes", "[1, , 3]"),
  table("rows with symbol keys", "[{ [Symbol('a')]: 1, b: 2 }]"),
  table("rows without prototype", "[Object.assign(Object.create(null), { a: 1 })]"),
  table("class instances", "[new (class P { x = 1; y = 2; })()]"),
  table("bad columns", "[1], 'a'"),
  table("null columns", "[1], null"),
  table("long texts", "[{ a: 'x'.repeat(100) }]"),
  table("keys like methods", "[{ constructor: 1, __proto__x: 2, toString: 3 }]"),
];

const consoles = [
  on(
    "streams in their old order",
    'const old = new Console(to("o "), to("e "), false); old.log(1); old.error(2);',
  ),
  on(
    "one stream for both",
    'const one = new Console({ stdout: to("o "), ignoreErrors: false }); one.log(1); one.error(2);',
  ),
  on("colours always", "mine({ colorMode: true }).log([1, 'a']);"),
  on("colours never", "mine({ colorMode: false }).log([1, 'a']);"),
  on("options of printing", "mine({ inspectOptions: { depth: 0 } }).log({ a: { b: 1 } });"),
  on("options of printing for dir", "mine({ inspectOptions: { depth: 0 } }).dir({ a: { b: 1 } });"),
  on(
    "width of groups",
    'const g = mine({ groupIndentation: 4 }); g.group("a"); g.log("b"); g.groupEnd(); g.log("c");',
  ),
  on("no stream", "new Console({});"),
  on("nothing for a stream", "new Console();"),
  on("bad error stream", 'new Console({ stdout: to(""), stderr: {} });'),
  on("bad colour mode", 'mine({ colorMode: "maybe" });'),
  on("bad width of groups", "mine({ groupIndentation: -1 });"),
  on("width of groups that is no integer", "mine({ groupIndentation: 1.5 });"),
  on("width of groups that is no number", 'mine({ groupIndentation: "2" });'),
  on("bad options of printing", "mine({ inspectOptions: 5 });"),
  on("two sayings on colours", "mine({ inspectOptions: { colors: true }, colorMode: true });"),
  on(
    "errors of a stream",
    'const bad = new Console({ stdout: { write() { throw new RangeError("full"); } }, ignoreErrors: ' +
      "false }); bad.log(1);",
  ),
  on(
    "subclass",
    'class Loud extends Console { log(text) { super.log(text + "!"); } } const l = new Loud({ stdout: ' +
      'to(""), ignoreErrors: false }); l.log("a"); l.count();',
  ),
  on(
    "is a console",
    "lines.push([c instanceof Console, console instanceof Console, console.Console === Console, " +
      "Object.prototype.toString.call(console)].join());",
  ),
  on("names of methods", "lines.push([c.log.name, c.table.name, c.groupCollapsed.name].join());"),
];

const globals = [
  printed("log", 'console.log("a", 1);\nconsole.log("%s!", "b");\nreturn 1;'),
  printed(
    "group",
    'console.group("g");\nconsole.log("in");\nconsole.groupEnd();\nconsole.log("out");\nreturn 1;',
  ),
  printed("errors go elsewhere", 'console.error("e");\nconsole.warn("w");\nconsole.info("i");\nreturn 1;'),
  printed("table", "console.table([{ a: 1 }]);\nreturn 1;"),
  printed("wide characters", 'console.log("äöü 日本 😀");\nreturn 1;'),
  printed("module", 'require("node:console").log("same", require("node:console") === console);\nreturn 1;'),
  printed(
    "polluted prototypes",
    'Array.prototype.join = () => "broken";\nString.prototype.slice = () => "broken";\nconsole.log({ ' +
      'a: [1, 2] }, "text %s", 1);\nreturn 1;',
  ),
  printed(
    "log that was kept",
    'const { log } = console;\nconsole.log = () => {};\nconsole.log("lost");\nlog("kept");\nreturn 1;',
  ),
];

export default [...methods, ...tables, ...consoles, ...globals];
