// Runs a session's programs: takes them from the parent, and reports how they ended.
import process from "node:process";
import { createRequire } from "node:module";
import vm from "node:vm";
import { answer, bring, isImporting } from "./imports.js";
import { receive, send } from "./lines.js";
import { flying, setLiteral, within } from "./native.js";
import { install as installProcess, onExit } from "./process.js";
import * as program from "./program.js";
import { content } from "./results.js";
import { install as installSession } from "./session.js";
import * as timers from "./timer_objects.js";

const REMEDY = "no network; use a tool (await tools.<server>.<tool>(args))";

const { stdout, stderr } = process;

/** Milliseconds between two checks whether a program can still continue. */
const LOOKS = 50;

/** The run under way: `{id, end}`. */
let current;

/** Ends the run under way, if there is one. */
function end(how) {
  current?.end(how);
}

const failed = (thrown) => ({ __proto__: null, failed: program.describe(thrown) });

async function run(message) {
  const stopWatching = watchForStandstill();
  const ended = await new Promise((resolve) => {
    current = { id: message.id, end: resolve };
    within(message.id, () => execute(message)).then(resolve, (thrown) => resolve(failed(thrown)));
  });
  current = undefined;
  stopWatching();
  timers.begin();
  await printed();
  send({ __proto__: null, t: "done", id: message.id, ...ended });
}

/** Waits until all output of the program is in the pipes. */
async function printed() {
  for (const stream of [stdout, stderr]) {
    if (stream.writableLength > 0) await new Promise((resolve) => stream.write("", resolve));
  }
}

async function execute({ id, name, code, names, servers, isOnServer, assignsResult, most }) {
  flying.count = 0;
  program.begin(names, servers, isOnServer);
  const start = vm.runInThisContext(code, { filename: name });
  const value = await start(program.imported, bring);
  while (timers.pendingTimers() > 0) await new Promise((resolve) => timers.onChange(resolve));
  // The engine tells of rejections once nothing is due.
  await timers.turn();
  const left = program.leftover();
  if (left !== undefined) return { __proto__: null, failed: left };
  return { __proto__: null, finished: program.finish(value, assignsResult, id, most ?? undefined) };
}

/** Ends a run that awaits a promise nothing can settle; returns a function that stops the watch. */
function watchForStandstill() {
  const idle = timers.activeResources()?.length;
  if (idle === undefined) return () => {};
  let stands = 0;
  return timers.watch(() => {
    const waits = flying.count > 0 || isImporting() || timers.pendingTimers() > 0;
    const goesOn = waits || timers.activeResources().length > idle;
    stands = goesOn ? 0 : stands + 1;
    if (stands < 2) return;
    const message = "the program awaits a promise that nothing can settle: no call, timer or other job is left";
    end({ __proto__: null, failed: { kind: "NeverSettled", message, stack: "" } });
  }, LOOKS);
}

function take(message) {
  switch (message.t) {
    case "open":
      process.chdir(message.directory);
      break;
    case "run":
      run(message);
      break;
    case "reply":
      flying.count -= 1;
      setLiteral(message.literal ?? undefined);
      if (message.isFailed) program.reply(message.id, undefined, message.value);
      else program.reply(message.id, message.value, undefined);
      break;
    case "module":
      answer(message);
      break;
    case "stop":
      end({ __proto__: null, failed: { kind: message.kind, message: message.message, stack: "" } });
      break;
  }
}

function installGlobals() {
  const { fetch } = globalThis;
  const refuse = async (input, init) => {
    const { url } = new Request(input, init);
    if (url.startsWith("data:")) return fetch(input, init);
    throw new TypeError(`fetch failed: ${REMEDY}`);
  };
  const require = createRequire("/workspace/program.js");
  for (const [name, value] of Object.entries({ fetch: refuse, require })) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: true });
  }
}

onExit((status) => {
  const finished = { __proto__: null, content: content() };
  end({ __proto__: null, finished, exit: status });
});
process.on("unhandledRejection", (reason, promise) => program.rejected(promise, reason, false));
process.on("rejectionHandled", (promise) => program.rejected(promise, undefined, true));
process.on("uncaughtException", (thrown) => end(failed(thrown)));
installProcess();
timers.install();
installSession();
installGlobals();
receive(take);
send({ __proto__: null, t: "ready" });
