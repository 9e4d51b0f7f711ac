// `process`, and the module `node:process`.

import native from "codeyard:native";
import {
  checkInteger,
  checkNumber,
  checkObject,
  checkString,
  invalidArgType,
  outOfRange,
  withCode,
} from "./errors.js";
import { EventEmitter } from "./events.js";
import { attempt } from "./fs_errors.js";
import { env } from "./process_env.js";
import { stderr, stdin, stdout } from "./process_streams.js";
import { emitWarning, setWarningTarget } from "./process_warnings.js";
import { nextTick, setUncaughtHandler } from "./ticks.js";

const {
  currentDirectory,
  changeDirectory,
  exit: endProgram,
  memoryUsage: readMemory,
  now,
  processorTime,
  systemInformation,
} = native;
const { defineProperties, setPrototypeOf } = Object;

/** The version of Node whose behaviour the platform has. */
const VERSION = "20.20.2";
const NANOSECONDS = 1e9;
const NANOSECONDS_IN_MILLISECOND = 1e6;

let exitCode;
let isExiting = false;

/** Reads the status of a program: a whole number, also as text. */
function readExitCode(value) {
  if (value === undefined || value === null) return value;
  const isNumeric = typeof value === "string" && value !== "" && !Number.isNaN(+value);
  const code = isNumeric ? +value : value;
  checkInteger(code, "code");
  return value;
}

/** Emits the end to the program; returns the exit status. */
export function finish() {
  if (!isExiting) {
    isExiting = true;
    process.emit("exit", Number(exitCode ?? 0));
  }
  return Number(exitCode ?? 0);
}

/** Clears the exit state of an earlier program. */
export function begin() {
  isExiting = false;
  exitCode = undefined;
}

/** Gives an error that nothing caught to the program's listeners; tells whether there are any. */
export function takeUncaught(error, origin = "uncaughtException") {
  process.emit("uncaughtExceptionMonitor", error, origin);
  return process.emit("uncaughtException", error, origin);
}

/** Gives a rejection that nothing handled to the program's listeners; tells whether there are any. */
export function takeRejection(reason, promise) {
  return process.emit("unhandledRejection", reason, promise) || takeUncaught(reason, "unhandledRejection");
}

/** Time as `[seconds, nanoseconds]`, since an earlier such time if one is given. */
function hrtime(time = undefined) {
  const [seconds, rest] = split(now());
  if (time === undefined) return [seconds, rest];
  if (!Array.isArray(time)) throw invalidArgType("time", "Array", time);
  if (time.length !== 2) throw outOfRange("time", "2", time.length);
  const passed = [seconds - time[0], rest - time[1]];
  return passed[1] < 0 ? [passed[0] - 1, passed[1] + NANOSECONDS] : passed;
}

function split(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  return [seconds, Math.floor((milliseconds - seconds * 1000) * NANOSECONDS_IN_MILLISECOND)];
}

hrtime.bigint = function bigint() {
  const [seconds, rest] = split(now());
  return BigInt(seconds) * BigInt(NANOSECONDS) + BigInt(rest);
};

function memoryUsage() {
  return readMemory();
}

memoryUsage.rss = function rss() {
  return readMemory().rss;
};

const members = {
  version: `v${VERSION}`,
  versions: { node: VERSION },
  arch: "x64",
  platform: "linux",
  release: { name: "node", lts: "Iron" },
  title: "codeyard",
  argv: ["codeyard", "program"],
  argv0: "codeyard",
  execArgv: [],
  execPath: "codeyard",
  pid: 1,
  ppid: 0,
  features: { inspector: false, debug: false, uv: false, ipv6: false, tls: false, typescript: "transform" },
  config: { target_defaults: {}, variables: {} },
  env,
  stdout,
  stderr,
  stdin,
  hrtime,
  memoryUsage,
  nextTick,
  emitWarning,

  cwd() {
    return attempt(currentDirectory, "uv_cwd");
  },

  chdir(directory) {
    checkString(directory, "directory");
    attempt(() => changeDirectory(directory), "chdir", currentDirectory(), directory);
  },

  /** Ends the program; never returns. */
  exit(code = undefined) {
    if (code !== undefined) exitCode = readExitCode(code);
    endProgram(finish());
  },

  reallyExit(code = undefined) {
    endProgram(Number(code ?? 0));
  },

  abort() {
    endProgram(134);
  },

  getuid() {
    return systemInformation().uid;
  },

  geteuid() {
    return systemInformation().uid;
  },

  getgid() {
    return systemInformation().gid;
  },

  getegid() {
    return systemInformation().gid;
  },

  uptime() {
    return now() / 1000;
  },

  /** Microseconds of computing, since an earlier answer if one is given. */
  cpuUsage(previous = undefined) {
    const used = processorTime();
    if (!previous) return used;
    checkObject(previous, "prevValue");
    checkNumber(previous.user, "prevValue.user");
    checkNumber(previous.system, "prevValue.system");
    return { user: used.user - previous.user, system: used.system - previous.system };
  },

  umask() {
    return 0o22;
  },

  kill(pid) {
    const message = `kill EPERM: a program may not signal the process ${pid}`;
    throw Object.assign(new Error(message), { errno: -1, code: "EPERM", syscall: "kill" });
  },

  binding(name) {
    throw withCode(new Error(`No such module: ${name}`), "ERR_INVALID_MODULE");
  },
};

/** An emitter with a prototype of its own, as `process` is in Node. */
const prototype = defineProperties(Object.create(EventEmitter.prototype), {
  constructor: { value: { process() {} }.process, writable: true, configurable: true },
  [Symbol.toStringTag]: { value: "process", configurable: true },
});

export const process = Object.assign(setPrototypeOf(new EventEmitter(), prototype), members);

Object.defineProperty(process, "exitCode", {
  get: () => exitCode,
  set(value) {
    exitCode = readExitCode(value);
  },
  enumerable: true,
  configurable: true,
});

setWarningTarget(process);
setUncaughtHandler((error) => takeUncaught(error));

export default process;
