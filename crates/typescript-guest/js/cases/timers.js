// Cases of timers, immediates, ticks and `node:timers`.

const order = (body) => `
  const seen = [];
  const log = (word) => () => seen.push(word);
  ${body}
  await new Promise((resolve) => setTimeout(resolve, 40));
  return seen;`;

export default [
  { name: "a timer passes its arguments", code: `return await new Promise((r) => setTimeout((...a) => r(a), 1, "a", 2, null))` },
  { name: "a timer without arguments", code: `return await new Promise((r) => setTimeout((...a) => r(a.length), 1))` },
  { name: "an interval passes its arguments", code: `return await new Promise((r) => { const i = setInterval((...a) => { clearInterval(i); r(a); }, 1, "a", [1]); })` },
  { name: "an immediate passes its arguments", code: `return await new Promise((r) => setImmediate((...a) => r(a), 1, 2, 3))` },
  { name: "this in a callback is the timer", code: `let t; return await new Promise((r) => { t = setTimeout(function () { r(this === t); }, 1); })` },
  { name: "this in an immediate", code: `return await new Promise((r) => { const t = setImmediate(function () { r(this === t); }); })` },
  { name: "timers run by delay", code: order(`setTimeout(log("c"), 15); setTimeout(log("b"), 8); setTimeout(log("a"), 1);`) },
  { name: "equal delays keep their order", code: order(`for (const w of ["a","b","c","d"]) setTimeout(log(w), 5);`) },
  { name: "zero and one are the same", code: order(`setTimeout(log("a"), 1); setTimeout(log("b"), 0); setTimeout(log("c")); setTimeout(log("d"), -5);`) },
  { name: "odd delays", code: order(`setTimeout(log("a"), NaN); setTimeout(log("b"), "1"); setTimeout(log("c"), null); setTimeout(log("d"), {});`) },
  { name: "a delay that is too long counts as one", code: order(`setTimeout(log("a"), 2 ** 31); setTimeout(log("b"), Infinity);`) },
  { name: "a delay as a symbol", code: `try { setTimeout(() => {}, Symbol("x")) } catch (e) { return e instanceof TypeError }` },
  { name: "fractions are cut", code: order(`setTimeout(log("a"), 5.9); setTimeout(log("b"), 5);`) },
  { name: "sync, tick, microtask, immediate in a timer", code: order(`setTimeout(() => {
      setImmediate(log("immediate"));
      setTimeout(log("timeout"), 0);
      Promise.resolve().then(log("promise"));
      queueMicrotask(log("microtask"));
      process.nextTick(log("tick"));
      seen.push("sync");
    }, 1);`) },
  { name: "ticks in ticks", code: order(`setImmediate(() => {
      process.nextTick(() => { seen.push("tick 1"); process.nextTick(log("tick 3")); Promise.resolve().then(log("promise")); });
      process.nextTick(log("tick 2"));
    });`) },
  { name: "a tick in a microtask in a tick", code: order(`setImmediate(() => {
      process.nextTick(() => { queueMicrotask(() => { seen.push("micro"); process.nextTick(log("inner tick")); queueMicrotask(log("micro 2")); }); });
      setImmediate(log("immediate"));
    });`) },
  { name: "ticks pass arguments", code: `return await new Promise((r) => process.nextTick((...a) => r(a), 1, "b"))` },
  { name: "microtasks run between timers", code: order(`
      setTimeout(() => { seen.push("a"); queueMicrotask(log("a's microtask")); process.nextTick(log("a's tick")); }, 1);
      setTimeout(log("b"), 1);`) },
  { name: "microtasks run between immediates", code: order(`
      setImmediate(() => { seen.push("a"); Promise.resolve().then(log("a's promise")); });
      setImmediate(log("b"));`) },
  { name: "an immediate in an immediate comes in the next turn", code: order(`
      setImmediate(() => { seen.push("a"); setImmediate(log("c")); });
      setImmediate(log("b"));`) },
  { name: "immediates in a timer come before new timers", code: order(`setTimeout(() => { setTimeout(log("timer"), 0); setImmediate(log("immediate")); }, 1);`) },
  { name: "clearTimeout", code: order(`const t = setTimeout(log("never"), 1); clearTimeout(t); setTimeout(log("a"), 2);`) },
  { name: "clearTimeout by number", code: order(`const t = +setTimeout(log("never"), 1); clearTimeout(t); setTimeout(log("a"), 2);`) },
  { name: "clearTimeout by text", code: order("const t = `${setTimeout(log('never'), 1)}`; clearTimeout(t); setTimeout(log('a'), 2);") },
  { name: "clearTimeout ignores nonsense", code: `for (const x of [undefined, null, 0, -1, 1e9, "x", "", {}, [], true, Symbol.iterator, () => {}]) clearTimeout(x); return "fine"` },
  { name: "clearInterval ignores nonsense", code: `for (const x of [undefined, null, 0, "x", {}, true]) clearInterval(x); return "fine"` },
  { name: "clearImmediate ignores nonsense", code: `for (const x of [undefined, null, 0, "", {}, [], false]) clearImmediate(x); return "fine"` },
  { name: "clearInterval clears timeouts and the reverse", code: order(`clearInterval(setTimeout(log("never"), 1)); clearTimeout(setInterval(log("never"), 1)); setTimeout(log("a"), 3);`) },
  { name: "clearing twice", code: order(`const t = setTimeout(log("never"), 1); clearTimeout(t); clearTimeout(t);`) },
  { name: "clearImmediate", code: order(`const i = setImmediate(log("never")); clearImmediate(i); setImmediate(log("a"));`) },
  { name: "an immediate clears a later one", code: order(`let b; setImmediate(() => { seen.push("a"); clearImmediate(b); }); b = setImmediate(log("never")); setImmediate(log("c"));`) },
  { name: "a timer clears a later one", code: order(`let b; setTimeout(() => { seen.push("a"); clearTimeout(b); }, 1); b = setTimeout(log("never"), 1);`) },
  { name: "an interval repeats until it is cleared", code: `let n = 0; return await new Promise((r) => { const i = setInterval(() => { if (++n === 4) { clearInterval(i); setTimeout(() => r(n), 10); } }, 1); })` },
  { name: "an interval is cleared inside by this", code: `let n = 0; return await new Promise((r) => { setInterval(function () { n++; clearInterval(this); setTimeout(() => r(n), 8); }, 1); })` },
  { name: "setTimeout without a function", code: `setTimeout()` },
  { name: "setTimeout with text", code: `setTimeout("alert()", 1)` },
  { name: "setTimeout with an object", code: `setTimeout({ a: 1 }, 1)` },
  { name: "setTimeout with an instance", code: `class Foo {} setTimeout(new Foo(), 1)` },
  { name: "setTimeout with null", code: `setTimeout(null, 1)` },
  { name: "setTimeout with a symbol", code: `setTimeout(Symbol("s"), 1)` },
  { name: "setTimeout with a bigint", code: `setTimeout(12n, 1)` },
  { name: "setTimeout with a long text", code: `setTimeout("x".repeat(60), 1)` },
  { name: "setTimeout with a text of 28 characters", code: `setTimeout("x".repeat(28), 1)` },
  { name: "setTimeout with a quote", code: `setTimeout("it's", 1)` },
  { name: "setTimeout with an object without a prototype", code: `setTimeout(Object.create(null), 1)` },
  { name: "setInterval without a function", code: `setInterval(5)` },
  { name: "setImmediate without a function", code: `setImmediate(true)` },
  { name: "queueMicrotask without a function", code: `queueMicrotask([])` },
  { name: "nextTick without a function", code: `process.nextTick("x")` },
  { name: "text of an error with a code", code: `try { setTimeout(1) } catch (error) { return [String(error), error instanceof TypeError, Object.keys(error), error.stack.split("\\n")[0].includes("callback")] }` },
  { name: "names of classes", code: `return [setTimeout(() => {}).constructor.name, setInterval(() => {}, 1).unref().constructor.name, setImmediate(() => {}).constructor.name]` },
  { name: "hasRef, ref, unref", code: `const t = setTimeout(() => {}, 1); return [t.hasRef(), t.unref() === t, t.hasRef(), t.unref().hasRef(), t.ref() === t, t.hasRef(), t.ref().hasRef()]` },
  { name: "hasRef after clearing", code: `const t = setTimeout(() => {}, 1); clearTimeout(t); return [t.hasRef(), t.ref().hasRef(), t.unref().hasRef()]` },
  { name: "hasRef after running", code: `const t = setTimeout(() => {}, 1); await new Promise((r) => setTimeout(r, 5)); return [t.hasRef(), t.ref().hasRef()]` },
  { name: "hasRef while running", code: `return await new Promise((r) => { const t = setTimeout(() => r(t.hasRef()), 1); })` },
  { name: "hasRef of an interval while running", code: `return await new Promise((r) => { const t = setInterval(() => { clearInterval(t); r(t.hasRef()); }, 1); })` },
  { name: "hasRef of an immediate", code: `const t = setImmediate(() => {}); const all = [t.hasRef(), t.unref() === t, t.hasRef(), t.ref().hasRef()]; clearImmediate(t); return [...all, t.hasRef()]` },
  { name: "hasRef of an immediate that ran", code: `const t = setImmediate(() => {}); await new Promise((r) => setTimeout(r, 5)); return [t.hasRef(), t.ref().hasRef()]` },
  { name: "refresh starts anew", code: order(`const t = setTimeout(log("a"), 12); setTimeout(() => t.refresh(), 6); setTimeout(log("b"), 14);`) },
  { name: "refresh returns the timer", code: `const t = setTimeout(() => {}, 1); return t.refresh() === t` },
  { name: "refresh after running runs again", code: order(`const t = setTimeout(log("a"), 1); setTimeout(() => { t.refresh(); seen.push(t.hasRef()); }, 8);`) },
  { name: "refresh after clearing does nothing", code: order(`const t = setTimeout(log("never"), 1); clearTimeout(t); t.refresh(); seen.push(t.hasRef());`) },
  { name: "refresh inside of the callback", code: `let n = 0; return await new Promise((r) => { const t = setTimeout(() => { if (++n < 3) t.refresh(); else setTimeout(() => r(n), 5); }, 1); })` },
  { name: "clearing inside of the callback", code: order(`const t = setTimeout(() => { clearTimeout(t); seen.push(t.hasRef()); }, 1);`) },
  { name: "close", code: order(`const t = setTimeout(log("never"), 1); seen.push(t.close() === t);`) },
  { name: "a timer as a number", code: `const t = setTimeout(() => {}, 1); return [typeof +t, +t === t[Symbol.toPrimitive](), Number.isInteger(+t), +t > 0, isNaN(t)]` },
  { name: "numbers of timers grow", code: `const a = +setTimeout(() => {}, 1), b = +setTimeout(() => {}, 1); return b > a` },
  { name: "a timer as a key of a map", code: `const m = new Map(); const t = setTimeout(() => {}); m.set(t, 1); return m.get(t)` },
  { name: "an unreferenced timer still runs", code: order(`setTimeout(log("a"), 1).unref();`) },
  { name: "an immediate has no number", code: `const t = setImmediate(() => {}); return [Symbol.toPrimitive in t, "refresh" in t, "close" in t]` },
  { name: "promises of timers: value", code: `const { setTimeout: sleep } = require("node:timers/promises"); return await sleep(1, { a: 1 })` },
  { name: "promises of timers: no value", code: `const { setTimeout: sleep } = require("timers/promises"); return (await sleep(1)) === undefined` },
  { name: "promises of timers: no delay", code: `const { setTimeout: sleep } = require("timers/promises"); return await sleep(undefined, 5)` },
  { name: "promises of timers: aborted before", code: `const { setTimeout: sleep } = require("node:timers/promises"); return await sleep(1, 1, { signal: AbortSignal.abort() })` },
  { name: "promises of timers: cause", code: `const { setTimeout: sleep } = require("node:timers/promises"); try { await sleep(1, 1, { signal: AbortSignal.abort("why") }) } catch (e) { return [e.name, e.code, e.message, e.cause, e instanceof Error, String(e), Object.keys(e)] }` },
  { name: "promises of timers: aborted meanwhile", code: `const { setTimeout: sleep } = require("node:timers/promises"); const c = new AbortController(); setTimeout(() => c.abort(new Error("stop")), 2); try { await sleep(100000, 1, { signal: c.signal }) } catch (e) { return [e.name, e.code, e.message, e.cause.message] }` },
  { name: "promises of timers: wrong options", code: `return await require("node:timers/promises").setTimeout(1, 1, 5)` },
  { name: "promises of timers: null options", code: `return await require("node:timers/promises").setTimeout(1, 1, null)` },
  { name: "promises of timers: wrong signal", code: `return await require("node:timers/promises").setTimeout(1, 1, { signal: 1 })` },
  { name: "promises of timers: wrong signal object", code: `return await require("node:timers/promises").setTimeout(1, 1, { signal: {} })` },
  { name: "promises of timers: wrong ref", code: `return await require("node:timers/promises").setTimeout(1, 1, { ref: "yes" })` },
  { name: "promises of timers reject and never throw", code: `const p = require("node:timers/promises").setTimeout(1, 1, 5); p.catch(() => {}); return p instanceof Promise` },
  { name: "promises of immediates", code: `const { setImmediate: soon } = require("node:timers/promises"); return [await soon("v"), (await soon()) === undefined]` },
  { name: "promises of immediates: aborted", code: `return await require("node:timers/promises").setImmediate(1, { signal: AbortSignal.abort() })` },
  { name: "promises of immediates: aborted meanwhile", code: `const c = new AbortController(); const p = require("node:timers/promises").setImmediate(1, { signal: c.signal }); c.abort(); return await p` },
  { name: "promises of immediates: wrong options", code: `return await require("node:timers/promises").setImmediate(1, "x")` },
  { name: "the iterator of an interval", code: `const { setInterval } = require("node:timers/promises"); const got = []; for await (const v of setInterval(1, "v")) { got.push(v); if (got.length === 3) break; } return got` },
  { name: "the iterator catches up", code: `const { setInterval, setTimeout } = require("node:timers/promises"); let n = 0; for await (const v of setInterval(2, "v")) { if (n++ === 0) await setTimeout(30); if (n === 5) return v; }` },
  { name: "the iterator of an interval: aborted", code: `const { setInterval } = require("node:timers/promises"); const c = new AbortController(); let n = 0; try { for await (const _ of setInterval(1, 1, { signal: c.signal })) if (++n === 2) c.abort("no more"); } catch (e) { return [n, e.name, e.code, e.cause]; }` },
  { name: "the iterator of an interval: aborted before", code: `const { setInterval } = require("node:timers/promises"); for await (const _ of setInterval(1, 1, { signal: AbortSignal.abort() })) return "no"` },
  { name: "the iterator of an interval: wrong options", code: `for await (const _ of require("node:timers/promises").setInterval(1, 1, 3)) return 1` },
  { name: "the iterator of an interval: wrong signal", code: `for await (const _ of require("node:timers/promises").setInterval(1, 1, { signal: 3 })) return 1` },
  { name: "the iterator of an interval: wrong ref", code: `for await (const _ of require("node:timers/promises").setInterval(1, 1, { ref: 3 })) return 1` },
  { name: "the iterator waits while no time passed", code: `const { setInterval } = require("node:timers/promises"); const i = setInterval(2, 7); const a = await i.next(); const b = await i.return(); const c = await i.next(); return [a, b, c]` },
  { name: "scheduler.wait", code: `const { scheduler } = require("node:timers/promises"); return [(await scheduler.wait(1)) === undefined, typeof scheduler.yield]` },
  { name: "scheduler.yield", code: `const { scheduler } = require("node:timers/promises"); const seen = []; setImmediate(() => seen.push("immediate")); await scheduler.yield(); return seen` },
  { name: "scheduler.wait aborted", code: `return await require("node:timers/promises").scheduler.wait(1000, { signal: AbortSignal.abort() })` },
  { name: "Scheduler cannot be made", code: `new (require("node:timers/promises").scheduler.constructor)()` },
  { name: "node:timers", code: `const timers = require("node:timers"); return [timers.setTimeout === setTimeout, timers.setInterval === setInterval, timers.setImmediate === setImmediate, timers.clearTimeout === clearTimeout, timers.clearInterval === clearInterval, timers.clearImmediate === clearImmediate, timers.promises === require("timers/promises")]` },
  { name: "import of node:timers", code: `const { setTimeout: a, default: all } = await import("node:timers"); return [a === setTimeout, all.setTimeout === a]` },
  { name: "import of node:timers/promises", code: `const { setTimeout: sleep } = await import("node:timers/promises"); return await sleep(1, "done")` },
  { name: "promisify of setTimeout", code: `const { promisify } = require("node:util"); return [await promisify(setTimeout)(1, "v"), await promisify(setImmediate)("w")]` },
  { name: "lengths and names", code: `return [setTimeout.name, clearTimeout.name, setInterval.name, clearInterval.name, setImmediate.name, clearImmediate.name, queueMicrotask.name, queueMicrotask.length, clearTimeout.length]` },
  { name: "return values", code: `return [clearTimeout(setTimeout(() => {})) === undefined, queueMicrotask(() => {}) === undefined, process.nextTick(() => {}) === undefined]` },
  { name: "many timers", code: `let n = 0; await new Promise((r) => { for (let i = 0; i < 5000; i++) setTimeout(() => { if (++n === 5000) r(); }, i % 7); }); return n` },
  { name: "many ticks", code: `let n = 0; await new Promise((r) => { const go = () => { if (++n === 20000) r(); else process.nextTick(go); }; process.nextTick(go); }); return n` },
  { name: "many immediates", code: `let n = 0; await new Promise((r) => { const go = () => { if (++n === 1000) r(); else setImmediate(go); }; go(); }); return n` },
  { name: "polluted prototypes do no harm", code: `
      Array.prototype.push = Map.prototype.get = Map.prototype.set = Function.prototype.apply = Function.prototype.call = () => { throw new Error("polluted"); };
      return await new Promise((r) => setTimeout(() => process.nextTick(() => setImmediate(() => queueMicrotask(() => r("fine")))), 1));` },
];
