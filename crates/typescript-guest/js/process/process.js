// Adapts `process` for runs, and hides the host's details.
import process from "node:process";

const { emit, listenerCount } = process;
const { apply } = Reflect;

/** The directories of the host are mounted below; programs know them by the links to them. */
const MOUNTS = ["/at/session/", "/at/", "/rw/d/"];

let end;

/** The platform's own listeners of each event, which do not count as the program's. */
const OWN_LISTENERS = 1;

/** Registers the function that ends the run when the program exits. */
export function onExit(callback) {
  end = callback;
}

/** Ends the program with a status. Code that catches the error can still continue. */
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

/** Replaces members that would reveal the host or end the session. */
export function install() {
  for (const name of Object.keys(process.env)) delete process.env[name];
  process.argv.splice(0, process.argv.length, "codeyard", "program");
  process.execArgv?.splice(0);
  process.exit = exit;
  process.cwd = shownDirectory;
}

/** Clears the exit state of an earlier program. */
export function begin() {
  process.exitCode = undefined;
}

/** Emits the end to the program; returns the exit status. */
export function finish() {
  const status = Number(process.exitCode ?? 0);
  apply(emit, process, ["exit", status]);
  return status;
}

/** Gives a rejection that nothing handled to the program's listeners; tells whether there are any. */
export function takeRejection() {
  return apply(listenerCount, process, ["unhandledRejection"]) > OWN_LISTENERS;
}
