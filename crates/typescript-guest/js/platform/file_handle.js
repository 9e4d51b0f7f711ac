// `FileHandle`: an open file whose operations are promises.

import { Buffer } from "./buffer.js";
import { asyncDispose, defineDisposal } from "./dispose.js";
import { checkObject } from "./errors.js";
import { createReadStream, createWriteStream } from "./fs_absent.js";
import { asEncoded, readOptions } from "./fs_arguments.js";
import {
  closeSync,
  fchmodSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  futimesSync,
  openSync,
  readSync,
  readToEnd,
  readvSync,
  writeSync,
  writevSync,
} from "./fs_descriptors.js";
import { settle } from "./fs_later.js";
import { writeChunks } from "./fs_write.js";

const CLOSED = -1;
const DEFAULT_SIZE = 16 * 1024;
const LINE_END = /\r\n|\n|\r/;

const isPosition = (value) => typeof value === "number" || typeof value === "bigint";

export class FileHandle {
  #fd;

  constructor(fd) {
    this.#fd = fd;
  }

  get fd() {
    return this.#fd;
  }

  /** Performs an operation on the descriptor; `syscall` names it if the file is closed. */
  #perform(syscall, operation, signal = undefined) {
    return settle(() => {
      if (this.#fd === CLOSED) {
        throw Object.assign(new Error("file closed"), { code: "EBADF", syscall });
      }
      return operation(this.#fd);
    }, signal);
  }

  /** Takes a buffer and a place in it, or one object with all of that; makes a buffer if none is given. */
  read(buffer = undefined, offset = undefined, length = undefined, position = undefined) {
    return this.#perform("read", (fd) => {
      const isView = ArrayBuffer.isView(buffer);
      if (!isView && buffer !== undefined && buffer !== null) checkObject(buffer, "options");
      const place = isView ? { offset, length, position } : { ...buffer };
      if (isView && offset !== null && typeof offset === "object")
        Object.assign(place, { offset: 0 }, offset);
      const target = isView ? buffer : (place.buffer ?? Buffer.alloc(DEFAULT_SIZE));
      const at = isPosition(place.position) ? place.position : null;
      const bytesRead = readSync(fd, target, place.offset ?? 0, place.length, at);
      return { __proto__: null, bytesRead, buffer: target };
    });
  }

  readv(buffers, position = null) {
    return this.#perform("readv", (fd) => ({
      __proto__: null,
      bytesRead: readvSync(fd, buffers, position),
      buffers,
    }));
  }

  write(buffer, offset = undefined, length = undefined, position = undefined) {
    return this.#perform("write", (fd) => {
      const bytesWritten = writeSync(fd, buffer, offset, length, position);
      return { __proto__: null, bytesWritten, buffer };
    });
  }

  writev(buffers, position = null) {
    return this.#perform("writev", (fd) => {
      const bytesWritten = writevSync(fd, buffers, position);
      return { __proto__: null, bytesWritten, buffers };
    });
  }

  /** Reads from the current position to the end. */
  async readFile(options = undefined) {
    const { encoding, signal } = readOptions(options);
    return this.#perform("readFile", (fd) => asEncoded(readToEnd(fd), encoding), signal);
  }

  /** Writes at the current position; data may also come in pieces. */
  async writeFile(data, options = undefined) {
    const { encoding, signal } = readOptions(options, { encoding: "utf8" });
    await this.#perform("writeFile", () => {}, signal);
    await writeChunks(this.#fd, data, encoding, signal);
  }

  appendFile(data, options = undefined) {
    return this.writeFile(data, options);
  }

  stat(options = undefined) {
    return this.#perform("fstat", (fd) => fstatSync(fd, options));
  }

  truncate(length = 0) {
    return this.#perform("ftruncate", (fd) => ftruncateSync(fd, length));
  }

  sync() {
    return this.#perform("fsync", fsyncSync);
  }

  datasync() {
    return this.#perform("fdatasync", fdatasyncSync);
  }

  chmod(mode) {
    return this.#perform("fchmod", (fd) => fchmodSync(fd, mode));
  }

  utimes(atime, mtime) {
    return this.#perform("futimes", (fd) => futimesSync(fd, atime, mtime));
  }

  /** The lines from the current position on; the file is closed after the last one. */
  readLines(options = undefined) {
    const read = () => this.readFile({ encoding: "utf8", ...options });
    const close = () => this.close();
    return {
      close,
      async *[Symbol.asyncIterator]() {
        try {
          const lines = (await read()).split(LINE_END);
          if (lines.at(-1) === "") lines.pop();
          yield* lines;
        } finally {
          await close();
        }
      },
    };
  }

  async close() {
    const fd = this.#fd;
    if (fd === CLOSED) return;
    this.#fd = CLOSED;
    await settle(() => closeSync(fd));
  }

  createReadStream() {
    return createReadStream();
  }

  createWriteStream() {
    return createWriteStream();
  }
}

defineDisposal(FileHandle, asyncDispose, FileHandle.prototype.close);

/** Opens a file for promises. */
export function open(path, flags = "r", mode = 0o666) {
  return settle(() => new FileHandle(openSync(path, flags, mode)));
}
