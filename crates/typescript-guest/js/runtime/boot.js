// Builds the platform, and exports the functions for the host's loop.
import native from "codeyard:native";
import { listTimes } from "./dates.js";
import { completeStacks } from "./error_stack.js";
import "./globals.js";
import { builtin, importError } from "./modules.js";
import * as program from "./program.js";
import { install as installSession } from "./session.js";
import { pendingTimers } from "./timers.js";
import { server } from "./tools.js";

installSession();
hideFunctions();
completeStacks();

/** Hides active functions, which the engine would show to programs, even this runtime's. */
function hideFunctions() {
  const { prepareStackTrace } = Error;
  Error.prepareStackTrace = (_, sites) => sites;
  const [site] = new Error().stack;
  Error.prepareStackTrace = prepareStackTrace;
  const shape = Object.getPrototypeOf(site);
  for (const name of ["getFunction", "getThis"]) delete shape[name];
}

// Every session draws its own numbers, also those that were cloned from one engine.
Object.defineProperty(Math, "random", { value: () => native.uniform(), writable: true, configurable: true });

// What the modules that are made while they load import from.
Object.defineProperty(globalThis, "__codeyard_builtins", {
  value: Object.freeze({
    names: (specifier) => Object.keys(found(specifier)),
    get: found,
    server,
    parseJson: JSON.parse,
  }),
});

function found(specifier) {
  const namespace = builtin(specifier);
  if (namespace !== undefined) return namespace;
  throw importError(specifier);
}

export default {
  ...program,
  pendingTimers,
  listTimes,
  runAfterJobs: () => native.runAfterJobs(),
  fireTimer: (id) => native.fireTimer(id),
};
