// The native functions of `codeyard:native` on top of Node, for runs of the platform without the guest.

import crypto from "node:crypto";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import v8 from "node:v8";

// Node 20 has `ArrayBuffer.prototype.transfer` behind a flag.
v8.setFlagsFromString("--harmony-rab-gsab-transfer");

const require = createRequire(import.meta.url);

const URL_PARTS = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
];
const KINDS = [
  ["isFile", "file"],
  ["isDirectory", "directory"],
  ["isSymbolicLink", "symlink"],
  ["isFIFO", "fifo"],
  ["isSocket", "socket"],
  ["isCharacterDevice", "character"],
  ["isBlockDevice", "block"],
];
const STATUS = [
  ..."dev ino mode nlink uid gid rdev size blksize blocks atimeMs mtimeMs ctimeMs birthtimeMs".split(" "),
];
const ALGORITHMS = new Set(["md5", "sha1", "sha256", "sha384", "sha512"]);

const view = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const plain = (buffer) => new Uint8Array(buffer);
const kindOf = (entry) => KINDS.find(([test]) => entry[test]())?.[1] ?? "file";
const parts = (url) => Object.fromEntries(URL_PARTS.map((part) => [part, url[part]]));

const text = {
  urlParse(input, base) {
    return URL.canParse(input, base) ? parts(new URL(input, base)) : undefined;
  },
  urlSet(href, part, value) {
    const url = new URL(href);
    if (part === "href") return URL.canParse(value) ? parts(new URL(value)) : undefined;
    url[part] = value;
    return parts(url);
  },
  /** Names and values in turn: `[name, value, name, value...]`. */
  formParse: (input) => [...new URLSearchParams(`&${input}`)].flat(),
  formSerialize(flat) {
    const params = new URLSearchParams();
    for (let index = 0; index < flat.length; index += 2) params.append(flat[index], flat[index + 1]);
    return params.toString();
  },
  encode: (string, encoding) => plain(Buffer.from(string, encoding)),
  decode(bytes, encoding, fatal) {
    if (!fatal) return view(bytes).toString(encoding);
    const label = encoding === "utf16le" ? "utf-16le" : "utf-8";
    try {
      return new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(view(bytes));
    } catch {
      return undefined;
    }
  },
};

const binary = {
  /** Where `needle` begins, counted from `from` forward, or backward when `last`. */
  indexOf: (bytes, needle, from, last) =>
    last ? view(bytes).lastIndexOf(view(needle), from) : view(bytes).indexOf(view(needle), from),
  compare: (a, b) => Buffer.compare(view(a), view(b)),
  /** Reverses the bytes of each group of `size` (2, 4 or 8) in place. */
  swap(bytes, size) {
    view(bytes)[`swap${size * 8}`]();
  },
  random: (n) => plain(crypto.randomBytes(n)),
  digest(algorithm, bytes) {
    if (!ALGORITHMS.has(algorithm)) throw new Error("unknown algorithm");
    return plain(crypto.createHash(algorithm).update(view(bytes)).digest());
  },
  hmac(algorithm, key, bytes) {
    if (!ALGORITHMS.has(algorithm)) throw new Error("unknown algorithm");
    return plain(crypto.createHmac(algorithm, view(key)).update(view(bytes)).digest());
  },
};

/** Minutes that a zone is ahead of UTC at a moment; `undefined` for a zone that does not exist. */
function timeZoneOffset(zone, epochMilliseconds) {
  let format;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    return undefined;
  }
  const parts = format.formatToParts(epochMilliseconds);
  const fields = Object.fromEntries(parts.map(({ type, value }) => [type, value]));
  const year = fields.era === "BC" ? 1 - Number(fields.year) : Number(fields.year);
  const wall = new Date(0);
  wall.setUTCFullYear(year, Number(fields.month) - 1, Number(fields.day));
  wall.setUTCHours(Number(fields.hour), Number(fields.minute), Number(fields.second));
  return (wall.getTime() - Math.floor(epochMilliseconds / 1000) * 1000) / 60000;
}

/** The clock and the timers of one session. */
function makeTime() {
  const timers = new Map();
  const began = performance.now();
  const origin = performance.timeOrigin + began;
  let fire = () => {};
  return {
    now: () => performance.now() - began,
    timeOrigin: () => origin,
    timeZoneOffset,
    /** Zero milliseconds fires before all timers that are not due, and never in the same turn. */
    setTimer(id, milliseconds) {
      const run = () => {
        timers.delete(id);
        fire(id);
      };
      timers.set(id, milliseconds === 0 ? setImmediate(run) : setTimeout(run, milliseconds));
    },
    clearTimer(id) {
      const timer = timers.get(id);
      if (typeof timer?.refresh === "function") clearTimeout(timer);
      else clearImmediate(timer);
      timers.delete(id);
    },
    /** Calls `callback` once, as soon as no job waits, before any timer. */
    afterJobs: (callback) => process.nextTick(() => callback()),
    onTimer(callback) {
      fire = callback;
    },
    queueMicrotask: (callback) => queueMicrotask(() => callback()),
  };
}

/** Reads engine internals; needs `--expose-internals`. */
function makeReflection() {
  const { internalBinding } = require("internal/test/binding");
  const { getPromiseDetails, getProxyDetails } = internalBinding("util");
  return {
    promiseState: (promise) => ["pending", "fulfilled", "rejected"][getPromiseDetails(promise)[0]],
    promiseResult: (promise) => getPromiseDetails(promise)[1],
    proxyTarget(value) {
      const details = getProxyDetails(value, true);
      return details === undefined ? undefined : [...details];
    },
  };
}

/** The fields of a status that the platform reads. */
function status(stats) {
  return { kind: kindOf(stats), ...Object.fromEntries(STATUS.map((field) => [field, stats[field]])) };
}

const trees = {
  readFile: (path) => plain(fs.readFileSync(path)),
  writeFile: (path, bytes, flag, mode) => fs.writeFileSync(path, view(bytes), { flag, mode }),
  readDirectory: (path) =>
    fs.readdirSync(path, { withFileTypes: true }).map((entry) => ({ name: entry.name, kind: kindOf(entry) })),
  stat: (path, followSymlinks) => status(followSymlinks ? fs.statSync(path) : fs.lstatSync(path)),
  makeDirectory: (path, recursive, mode) => fs.mkdirSync(path, { recursive, mode }),
  removeFile: (path) => fs.unlinkSync(path),
  removeDirectory: (path) => fs.rmdirSync(path),
  removeTree: (path) => fs.rmSync(path, { recursive: true }),
  rename: (from, to) => fs.renameSync(from, to),
  copyFile: (from, to, exclusive) => fs.copyFileSync(from, to, exclusive ? fs.constants.COPYFILE_EXCL : 0),
  realPath: (path) => fs.realpathSync.native(path),
  readLink: (path) => fs.readlinkSync(path),
  symlink: (target, path) => fs.symlinkSync(target, path),
  link: (existing, path) => fs.linkSync(existing, path),
  truncate: (path, length) => fs.truncateSync(path, length),
  chmod: (path, mode) => fs.chmodSync(path, mode),
  access: (path, mode) => fs.accessSync(path, mode),
  utimes: (path, accessed, modified) => fs.utimesSync(path, accessed, modified),
  makeTemporaryDirectory: (prefix) => fs.mkdtempSync(prefix),
};

const descriptors = {
  open: (path, flags, mode) => fs.openSync(path, flags, mode),
  read(fd, length, position) {
    const bytes = Buffer.alloc(length);
    const count = fs.readSync(fd, bytes, 0, bytes.length, position < 0 ? null : position);
    return plain(bytes.subarray(0, count));
  },
  writeTo(fd, bytes, position) {
    return fs.writeSync(fd, view(bytes), 0, bytes.byteLength, position < 0 ? null : position);
  },
  statOf: (fd) => status(fs.fstatSync(fd)),
  truncateOf: (fd, length) => fs.ftruncateSync(fd, length),
  chmodOf: (fd, mode) => fs.fchmodSync(fd, mode),
  utimesOf: (fd, accessed, modified) => fs.futimesSync(fd, accessed, modified),
  sync: (fd) => fs.fsyncSync(fd),
  close: (fd) => fs.closeSync(fd),
};

/** A program's view of its own process. */
const own = {
  currentDirectory: () => process.cwd(),
  changeDirectory: bare((path) => process.chdir(path)),
  processors: () => os.availableParallelism(),
  /** Memory in bytes, seconds since the machine's start, three averages of load, and the user. */
  systemInformation: () => ({
    totalMemory: os.totalmem(),
    freeMemory: os.freemem(),
    uptime: os.uptime(),
    load: os.loadavg(),
    release: os.release(),
    version: os.version(),
    uid: process.getuid(),
    gid: process.getgid(),
  }),
  /** Bytes: `{rss, heapTotal, heapUsed, external, arrayBuffers}`. */
  memoryUsage: () => process.memoryUsage(),
  /** Microseconds: `{user, system}`. */
  processorTime: () => process.cpuUsage(),
  /** Never returns: throws a value that no program can catch. */
  exit(code) {
    throw Object.assign(new Error(`exit ${code}`), { exit: code });
  },
};

/** Reduces a failure to the fields of the guest's functions: `code`, `errno` and `syscall`. */
function bare(operation) {
  return (...inputs) => {
    try {
      return operation(...inputs);
    } catch (error) {
      if (error.syscall === undefined) throw error;
      const { code, errno, syscall } = error;
      throw Object.assign(new Error(code), { code, errno, syscall });
    }
  };
}

/** The native object of one session; `write` stands for the two outputs. */
export function makeNative({ write = (stream, string) => fs.writeSync(stream, string) } = {}) {
  const operations = Object.entries({ ...trees, ...descriptors }).map(([name, call]) => [name, bare(call)]);
  const files = Object.fromEntries(operations);
  return { ...text, ...binary, ...own, ...makeTime(), ...makeReflection(), write, fs: files };
}
