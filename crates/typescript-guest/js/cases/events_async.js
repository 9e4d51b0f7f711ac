// Cases of `node:events` with promises, iterations, signals and targets of the web's events.

const SETUP = `const EventEmitter = require("node:events");
const seen = [];
const note = (name) => (...inputs) => { seen.push([name, ...inputs]); };
const e = new EventEmitter();`;
const on = (name, calls, answer = "seen") => ({ name, code: `${SETUP}\n${calls}\nreturn ${answer};` });

const promises = [
  on(
    "once as a promise",
    "const p = EventEmitter.once(e, 'a'); e.emit('a', 1, 2);",
    "[await p, e.listenerCount('a'), e.listenerCount('error')]",
  ),
  on(
    "once rejects on error",
    "const p = EventEmitter.once(e, 'a'); e.emit('error', new RangeError('bad'));",
    "await p",
  ),
  on(
    "once of error",
    "const p = EventEmitter.once(e, 'error'); e.emit('error', new Error('x'));",
    "(await p)[0].message",
  ),
  on("once of something else", "", "await EventEmitter.once({}, 'a')"),
  on("once with a bad signal", "", "await EventEmitter.once(e, 'a', { signal: 5 })"),
  on(
    "once of an event target",
    "const t = { addEventListener(type, f, o) { seen.push([type, o.once]); f({ type }); }, " +
      "removeEventListener() {} };",
    "[await EventEmitter.once(t, 'a'), seen]",
  ),
  on(
    "on as an iteration",
    "const it = EventEmitter.on(e, 'a'); e.emit('a', 1); e.emit('a', 2, 3); for await (const inputs of " +
      "it) { seen.push(inputs); if (seen.length === 2) break; }",
    "[seen, e.listenerCount('a'), e.listenerCount('error')]",
  ),
  on(
    "on asked before the event",
    "const it = EventEmitter.on(e, 'a'); const p = it.next(); const q = it.next(); e.emit('a', 'x'); " +
      "e.emit('a', 'y');",
    "[await p, await q]",
  ),
  on(
    "on ends by return",
    "const it = EventEmitter.on(e, 'a'); const p = it.next(); await it.return();",
    "[await p, await it.next()]",
  ),
  on(
    "on fails by error",
    "const it = EventEmitter.on(e, 'a'); e.emit('a', 1); e.emit('error', new RangeError('bad')); " +
      "seen.push(await it.next()); try { await it.next(); } catch (x) { seen.push(x.message); } " +
      "seen.push(await it.next());",
  ),
  on(
    "on fails while waiting",
    "const it = EventEmitter.on(e, 'a'); const p = it.next(); e.emit('error', new RangeError('bad'));",
    "await p",
  ),
  on(
    "on fails by throw",
    "const it = EventEmitter.on(e, 'a'); it.throw(new RangeError('mine'));",
    "await it.next()",
  ),
  on("on with a bad throw", "const it = EventEmitter.on(e, 'a'); it.throw(5);"),
  on(
    "on with closing events",
    "const it = EventEmitter.on(e, 'a', { close: ['end'] }); e.emit('a', 1); e.emit('end'); for await " +
      "(const inputs of it) seen.push(inputs);",
  ),
  on(
    "on with marks",
    "e.pause = () => seen.push('pause'); e.resume = () => seen.push('resume'); const it = " +
      "EventEmitter.on(e, 'a', { highWaterMark: 2, lowWaterMark: 1 }); for (let i = 0; i < 4; i++) " +
      "e.emit('a', i); for (let i = 0; i < 4; i++) seen.push((await it.next()).value[0]);",
  ),
  on("on with bad marks", "EventEmitter.on(e, 'a', { highWaterMark: 0 });"),
  on("on with a bad signal", "EventEmitter.on(e, 'a', { signal: 5 });"),
  on(
    "on with many events",
    "const it = EventEmitter.on(e, 'a'); for (let i = 0; i < 3000; i++) e.emit('a', i); let sum = 0; " +
      "for (let i = 0; i < 3000; i++) sum += (await it.next()).value[0];",
    "sum",
  ),
  on(
    "iterator of on is its own iterable",
    "const it = EventEmitter.on(e, 'a');",
    "it[Symbol.asyncIterator]() === it",
  ),
];

const targets = [
  on(
    "once with a signal",
    "const c = new AbortController(); const p = EventEmitter.once(e, 'a', { signal: c.signal }); " +
      "c.abort('why'); try { await p; } catch (x) { seen.push(x.name, x.code, x.message, x.cause); }",
    "[seen, e.listenerCount('a'), e.listenerCount('error')]",
  ),
  on(
    "once with an aborted signal",
    "try { await EventEmitter.once(e, 'a', { signal: AbortSignal.abort() }); } catch (x) { " +
      "seen.push(x.name, x.code, x.cause.name); }",
  ),
  on(
    "once with a signal that does not abort",
    "const c = new AbortController(); const p = EventEmitter.once(e, 'a', { signal: c.signal }); " +
      "e.emit('a', 5); c.abort();",
    "await p",
  ),
  on(
    "once of a target",
    "const t = new EventTarget(); const p = EventEmitter.once(t, 'ping'); t.dispatchEvent(new " +
      "Event('ping')); const [event] = await p;",
    "[event.type, event.target === t, EventEmitter.getEventListeners(t, 'ping').length]",
  ),
  on(
    "on with a signal",
    "const c = new AbortController(); const it = EventEmitter.on(e, 'a', { signal: c.signal }); " +
      "e.emit('a', 1); seen.push(await it.next()); const p = it.next(); c.abort(); try { await p; } " +
      "catch (x) { seen.push(x.name, x.code); }",
    "[seen, e.listenerCount('a')]",
  ),
  on("on with an aborted signal", "EventEmitter.on(e, 'a', { signal: AbortSignal.abort() });"),
  on(
    "on of a target",
    "const t = new EventTarget(); const it = EventEmitter.on(t, 'ping'); t.dispatchEvent(new " +
      "Event('ping')); const { value } = await it.next(); await it.return();",
    "[value[0].type, EventEmitter.getEventListeners(t, 'ping').length]",
  ),
  on(
    "getEventListeners of a target",
    "const t = new EventTarget(); const f = () => {}; t.addEventListener('a', f);",
    "[EventEmitter.getEventListeners(t, 'a')[0] === f, EventEmitter.getEventListeners(t, 'b')]",
  ),
  on(
    "limit of a target",
    "const t = new EventTarget(); seen.push(EventEmitter.getMaxListeners(t)); " +
      "EventEmitter.setMaxListeners(3, t, e);",
    "[seen, EventEmitter.getMaxListeners(t), e.getMaxListeners()]",
  ),
  on(
    "addAbortListener",
    "const c = new AbortController(); EventEmitter.addAbortListener(c.signal, () => " +
      "seen.push('aborted')); c.abort();",
  ),
  on(
    "addAbortListener of an aborted signal",
    "EventEmitter.addAbortListener(AbortSignal.abort(), () => seen.push('aborted')); " +
      "seen.push('first'); await null; await null;",
  ),
  on("addAbortListener of no signal", "EventEmitter.addAbortListener(undefined, () => {});"),
  on("addAbortListener of a bad signal", "EventEmitter.addAbortListener({}, () => {});"),
  on("addAbortListener of no function", "EventEmitter.addAbortListener(new AbortController().signal, 5);"),
];

export default [...promises, ...targets];
