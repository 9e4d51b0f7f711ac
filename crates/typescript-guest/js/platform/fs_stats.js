// Metadata of files: `Stats`, `Dirent`.

import { constants } from "./fs_constants.js";

const { S_IFMT, S_IFREG, S_IFDIR, S_IFCHR, S_IFBLK, S_IFIFO, S_IFLNK, S_IFSOCK } = constants;
const FIELDS = ["dev", "mode", "nlink", "uid", "gid", "rdev", "blksize", "ino", "size", "blocks"];
const TIMES = ["atime", "mtime", "ctime", "birthtime"];
const NANOSECONDS = 1e6;

/** Methods that test a file's kind, and the kind's bits. */
const TESTS = {
  isDirectory: S_IFDIR,
  isFile: S_IFREG,
  isBlockDevice: S_IFBLK,
  isCharacterDevice: S_IFCHR,
  isSymbolicLink: S_IFLNK,
  isFIFO: S_IFIFO,
  isSocket: S_IFSOCK,
};

/** The bits of each native kind, and the number that Node gives it in a `Dirent`. */
const KINDS = new Map([
  ["file", S_IFREG],
  ["directory", S_IFDIR],
  ["symlink", S_IFLNK],
  ["fifo", S_IFIFO],
  ["socket", S_IFSOCK],
  ["character", S_IFCHR],
  ["block", S_IFBLK],
]);
const NUMBERS = [0, S_IFREG, S_IFDIR, S_IFLNK, S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK];

function defineTests(Class, kindOf) {
  for (const [name, kind] of Object.entries(TESTS)) {
    const test = {
      [name]() {
        return kindOf(this) === kind;
      },
    }[name];
    Object.defineProperty(Class.prototype, name, { value: test, writable: true, configurable: true });
  }
}

/** The state of a file, with times as milliseconds and as `Date`. */
export class Stats {
  /** @param found what the native functions give */
  constructor(found) {
    for (const name of FIELDS) this[name] = found[name];
    for (const name of TIMES) this[`${name}Ms`] = found[`${name}Ms`];
    for (const name of TIMES) this[name] = new Date(Math.round(found[`${name}Ms`]));
  }
}

defineTests(Stats, (stats) => Number(stats.mode) & S_IFMT);

/** The same with big integers, and times as nanoseconds too. */
class BigIntStats {
  constructor(found) {
    for (const name of FIELDS) this[name] = BigInt(found[name]);
    for (const name of TIMES) this[`${name}Ms`] = BigInt(Math.floor(found[`${name}Ms`]));
    for (const name of TIMES) this[`${name}Ns`] = BigInt(Math.round(found[`${name}Ms`] * NANOSECONDS));
    for (const name of TIMES) this[name] = new Date(Math.floor(found[`${name}Ms`]));
  }
}

defineTests(BigIntStats, (stats) => Number(stats.mode) & S_IFMT);

export function makeStats(found, options) {
  return options?.bigint ? new BigIntStats(found) : new Stats(found);
}

/** An entry of a directory. */
export class Dirent {
  #kind;

  /** @param kind one of the native words, or a number of `UV_DIRENT_...` */
  constructor(name, kind, parentPath) {
    this.name = name;
    this.parentPath = parentPath;
    this.path = parentPath;
    this.#kind = KINDS.get(kind) ?? NUMBERS[kind] ?? 0;
  }

  static {
    defineTests(Dirent, (entry) => entry.#kind);
  }
}
