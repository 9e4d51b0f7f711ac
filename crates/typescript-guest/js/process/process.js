// What a run needs of `process`, and what programs must not find there.
import process from "node:process";

const { emit, listenerCount } = process;
const { apply } = Reflect;

/** The directories of the host are mounted below; programs know them by the links to them. */
const MOUNTS = ["/at/session/", "/at/", "/rw/d/"];

let end;

/** The platform's own listeners of each event, which do not count as the program's. */
const OWN_LISTENERS = 1;

/** Tells who ends the run when the program ends itself. */
export function onExit(callback) {
  end = callback;
}

/** Ends the program with its status. Nothing can stop code that catches the error and goes on. */
function exit(code = undefined) {
  if (code !== undefined) process.exitCode = code;
  end(Number(process.exitCode ?? 0));
  throw new Error("the program has ended itself");
}

const { cwd } = process;

function shownDirectory() {
  const real = cwd();
  const mount = MOUNTS.find((mount) => real.startsWith(mount));
  return mount === undefined ? real : real.slice(mount.length - 1);
}

/** Replaces what would tell of the host or end the session. */
export function install() {
  for (const name of Object.keys(process.env)) delete process.env[name];
  process.argv.splice(0, process.argv.length, "codeyard", "program");
  process.execArgv?.splice(0);
  process.exit = exit;
  process.cwd = shownDirectory;
}

/** Forgets how an earlier program of the session ended. */
export function begin() {
  process.exitCode = undefined;
}

/** Tells the program that it ends; returns the status that it ends with. */
export function finish() {
  const status = Number(process.exitCode ?? 0);
  apply(emit, process, ["exit", status]);
  return status;
}

/** Gives a rejection that nothing handled to the program's listeners; tells whether there are any. */
export function takeRejection() {
  return apply(listenerCount, process, ["unhandledRejection"]) > OWN_LISTENERS;
}
