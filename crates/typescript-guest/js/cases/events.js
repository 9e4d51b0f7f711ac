// Cases of `node:events`.

const SETUP = `const EventEmitter = require("node:events");
const seen = [];
const note = (name) => (...inputs) => { seen.push([name, ...inputs]); };
const e = new EventEmitter();`;
const on = (name, calls, answer = "seen") => ({ name, code: `${SETUP}\n${calls}\nreturn ${answer};` });

const listening = [
  on("on and emit", 'e.on("a", note("1")); e.on("a", note("2")); e.emit("a", 5, "x");'),
  on("emit answers whether someone listens", 'e.on("a", () => {});', '[e.emit("a"), e.emit("b")]'),
  on("emit without listeners at all", "", '[new EventEmitter().emit("a")]'),
  on("emit of many arguments", 'e.on("a", note("1")); e.emit("a", 1, 2, 3, 4, 5, 6);'),
  on(
    "methods give the emitter",
    "const f = () => {};",
    '[e.on("a", f) === e, e.once("a", f) === e, e.off("a", f) === e, e.prependListener("a", f) === e, ' +
      "e.removeAllListeners() === e, e.setMaxListeners(1) === e]",
  ),
  on("this of a listener", "let self; e.on('a', function () { self = this; }); e.emit('a');", "self === e"),
  on(
    "symbol as event",
    "const s = Symbol('s'); e.on(s, note('s')); e.emit(s, 1);",
    "[seen, e.eventNames().length, e.listenerCount(s)]",
  ),
  on("number as event", "e.on(5, note('5')); e.emit('5', 1); e.emit(5, 2);"),
  on("once", 'e.once("a", note("1")); e.emit("a", 1); e.emit("a", 2);'),
  on("once with arguments", 'e.once("a", note("1")); e.emit("a", 1, 2, 3);'),
  on("once within itself", 'e.once("a", () => { seen.push(1); e.emit("a"); }); e.emit("a");'),
  on("off", 'const f = note("f"); e.on("a", f); e.off("a", f); e.emit("a");'),
  on(
    "off of a once listener",
    'const f = note("f"); e.once("a", f); e.off("a", f); e.emit("a");',
    "[seen, e.listenerCount('a')]",
  ),
  on(
    "off of one of two",
    'const f = note("f"); e.on("a", f); e.on("a", note("g")); e.removeListener("a", f); e.emit("a");',
  ),
  on(
    "off removes the last",
    'const f = note("f"); e.on("a", f); e.on("a", note("g")); e.on("a", f); e.off("a", f); e.emit("a");',
  ),
  on(
    "off of an unknown listener",
    'e.on("a", note("1")); e.off("a", () => {}); e.off("b", () => {}); e.emit("a");',
  ),
  on(
    "off of one in three",
    'const f = note("f"); e.on("a", note("1")); e.on("a", f); e.on("a", note("3")); e.off("a", f); ' +
      'e.emit("a");',
    "[seen, e.listenerCount('a')]",
  ),
  on(
    "added while emitting",
    'e.on("a", () => { e.on("a", note("late")); }); e.emit("a"); const before = seen.length; e.emit("a");',
    "[before, seen.length]",
  ),
  on(
    "removed while emitting",
    'const f = note("f"); e.on("a", () => e.off("a", f)); e.on("a", f); e.emit("a"); e.emit("a");',
  ),
  on(
    "prepend",
    'e.on("a", note("1")); e.prependListener("a", note("0")); e.prependListener("a", note("-1")); ' +
      'e.emit("a");',
  ),
  on(
    "prepend once",
    'e.on("a", note("1")); e.prependOnceListener("a", note("0")); e.emit("a"); e.emit("a");',
  ),
  on("prepend as the first", 'e.prependListener("a", note("0")); e.emit("a");'),
  on(
    "removeAllListeners of one event",
    'e.on("a", note("a")); e.on("b", note("b")); e.removeAllListeners("a"); e.emit("a"); e.emit("b");',
    "[seen, e.eventNames()]",
  ),
  on(
    "removeAllListeners",
    'e.on("a", note("a")); e.on("b", note("b")); e.removeAllListeners(); e.emit("a"); e.emit("b");',
    "[seen, e.eventNames()]",
  ),
  on(
    "removeAllListeners of undefined",
    'e.on("a", note("a")); e.removeAllListeners(undefined);',
    "e.eventNames()",
  ),
  on(
    "removeAllListeners of an unknown event",
    'e.on("a", note("a")); e.removeAllListeners("zz");',
    "e.eventNames()",
  ),
  on(
    "a listener that throws",
    'e.on("a", () => { throw new RangeError("mine"); }); e.on("a", note("after")); try { e.emit("a"); ' +
      "} catch (x) { seen.push(x.message); }",
  ),
  on("listener that is no function", 'e.on("a", 5);'),
  on("listener that is null", 'e.once("a", null);'),
  on("listener that is missing", 'e.off("a");'),
  on("prepend of no function", 'e.prependListener("a", "x");'),
  on("prepend once of no function", 'e.prependOnceListener("a", {});'),
  on("addListener", "", "[e.addListener === e.on, e.off === e.removeListener, e.on.name, e.off.name]"),
];

const looking = [
  on(
    "listenerCount",
    'const f = () => {}; e.on("a", f); e.once("a", f); e.on("a", () => {});',
    "[e.listenerCount('a'), e.listenerCount('b'), e.listenerCount('a', f)]",
  ),
  on(
    "listenerCount of one",
    'const f = () => {}; e.on("a", f);',
    "[e.listenerCount('a', f), e.listenerCount('a', () => {}), e.listenerCount('a', null)]",
  ),
  on(
    "static listenerCount",
    'e.on("a", () => {});',
    "[EventEmitter.listenerCount(e, 'a'), EventEmitter.listenerCount(e, 'b')]",
  ),
  on(
    "listeners",
    "const f = () => {}; const g = () => {}; e.on('a', f); e.once('a', g);",
    "[e.listeners('a')[0] === f, e.listeners('a')[1] === g, e.listeners('b')]",
  ),
  on(
    "listeners of one",
    "const f = () => {}; e.once('a', f);",
    "[e.listeners('a')[0] === f, e.rawListeners('a')[0] === f]",
  ),
  on(
    "rawListeners",
    "const f = note('f'); e.once('a', f); const [raw] = e.rawListeners('a'); raw.listener('direct'); " +
      "raw('x'); raw('y');",
    "[raw !== f, raw.listener === f, seen, e.listenerCount('a')]",
  ),
  on("listeners is a copy", "e.on('a', () => {}); e.listeners('a').length = 0;", "e.listenerCount('a')"),
  on(
    "eventNames",
    "const s = Symbol('s'); e.on('a', () => {}); e.on(s, () => {}); e.on('b', () => {});",
    "e.eventNames().map(String)",
  ),
  on(
    "eventNames after off",
    "const f = () => {}; e.on('a', f); e.on('b', f); e.off('a', f);",
    "e.eventNames()",
  ),
  on("eventNames of none", "", "e.eventNames()"),
  on(
    "newListener",
    "e.on('newListener', (type, f) => seen.push([type, typeof f, e.listenerCount('a')])); e.on('a', () " +
      "=> {}); e.once('b', () => {});",
  ),
  on(
    "newListener adds before",
    "e.once('newListener', (type) => { if (type === 'a') e.on('a', note('B')); }); e.on('a', " +
      "note('A')); e.emit('a');",
  ),
  on(
    "newListener sees the listener of once",
    "const f = () => {}; e.on('newListener', (type, given) => seen.push(given === f)); e.once('a', f);",
  ),
  on(
    "removeListener event",
    "const f = () => {}; e.on('removeListener', (type, given) => seen.push([type, given === f])); " +
      "e.on('a', f); e.off('a', f);",
  ),
  on(
    "removeListener event for once",
    "const f = () => {}; e.on('removeListener', (type, given) => seen.push([type, given === f])); " +
      "e.once('a', f); e.emit('a');",
  ),
  on(
    "removeListener event of one of two",
    "const f = () => {}; e.on('removeListener', (type) => seen.push([type, e.listenerCount('a')])); " +
      "e.on('a', f); e.on('a', () => {}); e.off('a', f);",
  ),
  on(
    "removeListener events of removeAllListeners",
    "e.on('removeListener', (type, f) => seen.push([type, f.name])); e.on('a', function one() {}); " +
      "e.on('a', function two() {}); e.on('b', function three() {}); e.removeAllListeners();",
    "[seen, e.eventNames()]",
  ),
  on(
    "getEventListeners",
    "const f = () => {}; e.on('a', f);",
    "EventEmitter.getEventListeners(e, 'a')[0] === f",
  ),
  on("getEventListeners of something else", "", "EventEmitter.getEventListeners({}, 'a')"),
];

const limits = [
  on(
    "maximum",
    "",
    "[e.getMaxListeners(), e.setMaxListeners(3).getMaxListeners(), EventEmitter.defaultMaxListeners]",
  ),
  on(
    "maximum of zero",
    "e.setMaxListeners(0); for (let i = 0; i < 20; i++) e.on('a', () => {});",
    "e.listenerCount('a')",
  ),
  on("maximum that is no number", "e.setMaxListeners('5');"),
  on("maximum that is negative", "e.setMaxListeners(-1);"),
  on("maximum that is NaN", "e.setMaxListeners(NaN);"),
  on(
    "default maximum",
    "EventEmitter.defaultMaxListeners = 3;",
    "[e.getMaxListeners(), new EventEmitter().getMaxListeners()]",
  ),
  on("bad default maximum", "EventEmitter.defaultMaxListeners = -5;"),
  on(
    "static setMaxListeners",
    "EventEmitter.setMaxListeners(7, e);",
    "[e.getMaxListeners(), new EventEmitter().getMaxListeners()]",
  ),
  on(
    "static setMaxListeners of all",
    "EventEmitter.setMaxListeners(8);",
    "[new EventEmitter().getMaxListeners(), EventEmitter.defaultMaxListeners]",
  ),
  on("static setMaxListeners of something else", "EventEmitter.setMaxListeners(7, {});"),
  on("static getMaxListeners", "", "[EventEmitter.getMaxListeners(e)]"),
  on("static getMaxListeners of something else", "", "EventEmitter.getMaxListeners(5)"),
];

const errorEvents = [
  on("error without listeners", "e.emit('error', new RangeError('bad'));"),
  on("error that is a text", "e.emit('error', 'bad');"),
  on(
    "error that is an object",
    "try { e.emit('error', { a: 1 }); } catch (x) { seen.push(x.message, x.code, x.context, x.name, " +
      "String(x)); }",
  ),
  on("error without value", "e.emit('error');"),
  on("error with null", "e.emit('error', null);"),
  on(
    "error with a listener",
    "e.on('error', (x) => seen.push(x.message)); seen.push(e.emit('error', new Error('bad')));",
  ),
  on(
    "error is thrown as it is",
    "const x = new Error('m'); let caught; try { e.emit('error', x); } catch (y) { caught = y; }",
    "caught === x",
  ),
  on(
    "error monitor",
    "e.on(EventEmitter.errorMonitor, (x) => seen.push(['monitor', x.message])); try { e.emit('error', " +
      "new Error('bad')); } catch (x) { seen.push(['thrown', x.message]); }",
  ),
  on(
    "error monitor and listener",
    "e.on('error', () => seen.push('listener')); e.on(EventEmitter.errorMonitor, () => " +
      "seen.push('monitor')); e.emit('error', new Error('x'));",
  ),
  on(
    "captured rejection",
    "const c = new EventEmitter({ captureRejections: true }); c.on('a', async () => { throw new " +
      "Error('async'); }); const p = new Promise((r) => c.on('error', (x) => r(x.message))); c.emit('a');",
    "await p",
  ),
  on(
    "captured rejection by symbol",
    "const c = new EventEmitter({ captureRejections: true }); const p = new Promise((r) => { " +
      "c[Symbol.for('nodejs.rejection')] = (x, type, ...rest) => r([x.message, type, rest]); }); " +
      "c.on('a', async () => { throw new Error('async'); }); c.emit('a', 1, 2);",
    "await p",
  ),
  on(
    "captured rejection of two listeners",
    "const c = new EventEmitter({ captureRejections: true }); let n = 0; const p = new Promise((r) => " +
      "c.on('error', () => { if (++n === 2) r(n); })); c.on('a', async () => { throw new Error('1'); }); " +
      "c.on('a', async () => { throw new Error('2'); }); c.emit('a');",
    "await p",
  ),
  on("bad captureRejections", "new EventEmitter({ captureRejections: 'yes' });"),
  on(
    "captureRejections of all",
    "EventEmitter.captureRejections = true; const c = new EventEmitter(); const p = new Promise((r) => " +
      "c.on('error', (x) => r(x.message))); c.on('a', async () => { throw new Error('async'); }); " +
      "c.emit('a');",
    "await p",
  ),
  on("bad captureRejections of all", "EventEmitter.captureRejections = 1;"),
];

const classes = [
  on(
    "subclass",
    "class My extends EventEmitter { constructor() { super(); this.x = 1; } } const m = new My(); " +
      "m.on('a', note('m')); m.emit('a', m.x);",
    "[seen, m instanceof EventEmitter]",
  ),
  on(
    "old subclass",
    "function Old() { EventEmitter.call(this); } require('node:util').inherits(Old, EventEmitter); " +
      "const o = new Old(); o.on('a', note('o')); o.emit('a', 1);",
    "[seen, o instanceof EventEmitter]",
  ),
  on(
    "subclass without constructor call",
    "function Old() {} Object.setPrototypeOf(Old.prototype, EventEmitter.prototype); const o = new " +
      "Old(); seen.push(o.emit('a')); o.on('a', note('o')); o.emit('a', 1); const p = new Old(); " +
      "p.emit('a');",
  ),
  on("printed", "e.on('a', () => {});", "require('node:util').inspect(e)"),
  on(
    "printed with two listeners",
    "e.on('a', () => {}); e.on('a', function f() {});",
    "require('node:util').inspect(e)",
  ),
  on(
    "subclass, printed",
    "class Bus extends EventEmitter { name = 'x'; }",
    "require('node:util').inspect(new Bus())",
  ),
  on("exports", "", "Object.keys(EventEmitter).filter((key) => !/Async|init/.test(key)).sort()"),
  on(
    "exports of the module",
    "",
    "[EventEmitter.EventEmitter === EventEmitter, require('events') === EventEmitter]",
  ),
  on(
    "named import",
    "const module = await import('node:events');",
    "[module.EventEmitter === EventEmitter, module.default === EventEmitter, typeof module.once, " +
      "typeof module.on]",
  ),
  on("keys of an emitter", "", "Object.keys(e)"),
  on("keys of the prototype", "", "Object.keys(EventEmitter.prototype).sort()"),
  on("symbols", "", "[String(EventEmitter.errorMonitor), String(EventEmitter.captureRejectionSymbol)]"),
];

export default [...listening, ...looking, ...limits, ...errorEvents, ...classes];
