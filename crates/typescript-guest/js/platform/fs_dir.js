// `Dir`: a directory that is read entry by entry.

import { checkFunction, checkInteger, withCode } from "./errors.js";
import { readOptions, readPath } from "./fs_arguments.js";
import { readdirSync } from "./fs_directories.js";
import { systemError } from "./fs_errors.js";
import { later, settle } from "./fs_later.js";

const LARGEST_UINT32 = 2 ** 32 - 1;

export class Dir {
  #path;
  #entries;
  #next = 0;
  #isClosed = false;

  constructor(path, entries) {
    this.#path = path;
    this.#entries = entries;
  }

  get path() {
    return this.#path;
  }

  #checkOpen() {
    if (this.#isClosed) throw withCode(new Error("Directory handle was closed"), "ERR_DIR_CLOSED");
  }

  readSync() {
    this.#checkOpen();
    return this.#entries[this.#next++] ?? null;
  }

  closeSync() {
    this.#checkOpen();
    this.#isClosed = true;
  }

  /** Gives the next entry to a callback, or to a promise if there is none. */
  read(callback = undefined) {
    return this.#answer(() => this.readSync(), callback);
  }

  close(callback = undefined) {
    return this.#answer(() => this.closeSync(), callback);
  }

  #answer(operation, callback) {
    if (callback === undefined) return settle(operation);
    checkFunction(callback, "callback");
    this.#checkOpen();
    later(operation, callback);
    return undefined;
  }

  async *entries() {
    try {
      for (let entry = await this.read(); entry !== null; entry = await this.read()) yield entry;
    } finally {
      await this.close();
    }
  }

  [Symbol.asyncIterator]() {
    return this.entries();
  }
}

export function opendirSync(path, options = undefined) {
  const name = readPath(path);
  const { bufferSize = 32, recursive, encoding } = readOptions(options, { encoding: "utf8" });
  checkInteger(bufferSize, "options.bufferSize", 1, LARGEST_UINT32);
  try {
    return new Dir(name, readdirSync(name, { encoding, recursive, withFileTypes: true }));
  } catch (error) {
    throw error.syscall === "scandir" ? systemError(error.code, "opendir", name) : error;
  }
}
