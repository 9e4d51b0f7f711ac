// Builds the platform, and gives the host's loop the functions that it calls.
import native from "codeyard:native";
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

/** The engine would show programs the functions that are under way, also those of this runtime. */
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
  runAfterJobs: () => native.runAfterJobs(),
  fireTimer: (id) => native.fireTimer(id),
};
