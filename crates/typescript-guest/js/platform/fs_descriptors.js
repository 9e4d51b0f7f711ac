// Operations on open files: `openSync`, `readSync`, `writeSync` and the others that take a descriptor.

import native from "codeyard:native";
import { joinBytes } from "./bytes.js";
import { checkInteger, invalidArgType, outOfRange, withCode } from "./errors.js";
import {
  asBytes,
  encodeData,
  readDescriptor,
  readFlags,
  readLength,
  readMode,
  readPath,
  readTime,
} from "./fs_arguments.js";
import { attempt } from "./fs_errors.js";
import { makeStats } from "./fs_stats.js";

const { fs } = native;
const VIEWS = ["Buffer", "TypedArray", "DataView"];
const AT_CURRENT_POSITION = -1;
const FIRST_PIECE = 64 * 1024;
const LARGEST_PIECE = 4 * 1024 * 1024;

export function openSync(path, flags = "r", mode = 0o666) {
  const name = readPath(path);
  const number = readFlags(flags);
  const bits = readMode(mode, "mode", 0o666);
  return attempt(() => fs.open(name, number, bits), "open", name);
}

export function closeSync(fd) {
  readDescriptor(fd);
  attempt(() => fs.close(fd), "close");
}

export function fstatSync(fd, options = undefined) {
  readDescriptor(fd);
  return makeStats(
    attempt(() => fs.statOf(fd), "fstat"),
    options,
  );
}

export function ftruncateSync(fd, length = 0) {
  readDescriptor(fd);
  const size = readLength(length);
  attempt(() => fs.truncateOf(fd, size), "ftruncate");
}

export function fsyncSync(fd) {
  readDescriptor(fd);
  attempt(() => fs.sync(fd), "fsync");
}

export function fdatasyncSync(fd) {
  readDescriptor(fd);
  attempt(() => fs.sync(fd), "fdatasync");
}

export function fchmodSync(fd, mode) {
  readDescriptor(fd);
  const bits = readMode(mode);
  attempt(() => fs.chmodOf(fd, bits), "fchmod");
}

export function futimesSync(fd, atime, mtime) {
  readDescriptor(fd);
  const accessed = readTime(atime, "atime");
  const modified = readTime(mtime, "mtime");
  attempt(() => fs.utimesOf(fd, accessed, modified), "futime");
}

/** Where to read; `null` means the current position. */
function readingPosition(position) {
  if (position === undefined || position === null) return AT_CURRENT_POSITION;
  if (typeof position === "bigint") return Number(position);
  if (typeof position !== "number") throw invalidArgType("position", ["bigint", "integer"], position);
  checkInteger(position, "position", AT_CURRENT_POSITION);
  return position;
}

/** Where to write; what is no number means the current position. */
const writingPosition = (position) =>
  typeof position === "number" && position >= 0 ? position : AT_CURRENT_POSITION;

/** Reads `(offset, length, position)`, for which an object with these names may stand. */
function readPlace(offset, length, position) {
  return typeof offset === "object" && offset !== null ? offset : { offset, length, position };
}

function checkView(value, types = VIEWS) {
  if (!ArrayBuffer.isView(value)) throw invalidArgType("buffer", types, value);
}

/** The part of a buffer that an operation shall fill. */
function partToFill(view, { offset, length }) {
  const start = offset ?? 0;
  checkInteger(start, "offset", 0);
  const size = length === undefined ? view.byteLength - start : Math.trunc(length ?? 0);
  if (size === 0) return new Uint8Array(0);
  if (view.byteLength === 0) {
    const message = "The argument 'buffer' is empty and cannot be written. Received <Buffer >";
    throw withCode(new TypeError(message), "ERR_INVALID_ARG_VALUE");
  }
  if (size < 0) throw outOfRange("length", ">= 0", size);
  if (size > view.byteLength - start) throw outOfRange("length", `<= ${view.byteLength - start}`, size);
  return asBytes(view).subarray(start, start + size);
}

/** The part of a buffer that an operation shall write. */
function partToWrite(view, { offset, length }) {
  const start = offset ?? 0;
  checkInteger(start, "offset", 0);
  if (start > view.byteLength) throw outOfRange("offset", `<= ${view.byteLength}`, start);
  const size = length ?? view.byteLength - start;
  checkInteger(size, "length");
  if (size < 0) throw outOfRange("length", ">= 0", size);
  if (size > view.byteLength - start) throw outOfRange("length", `<= ${view.byteLength - start}`, size);
  return asBytes(view).subarray(start, start + size);
}

/** Fills a buffer or a part of it; returns how many bytes were read. */
export function readSync(fd, buffer, offset, length, position) {
  readDescriptor(fd);
  checkView(buffer);
  const place = readPlace(offset, length, position);
  const part = partToFill(buffer, place);
  const at = readingPosition(place.position);
  if (part.length === 0) return 0;
  const bytes = attempt(() => fs.read(fd, part.length, at), "read");
  part.set(bytes);
  return bytes.length;
}

/** Writes all bytes, also if the system takes fewer at once. */
export function writeAll(fd, bytes, position = AT_CURRENT_POSITION) {
  let done = 0;
  while (done < bytes.length) {
    const at = position < 0 ? position : position + done;
    done += attempt(() => fs.writeTo(fd, bytes.subarray(done), at), "write");
  }
  return done;
}

/** Writes bytes, `(fd, view, offset, length, position)`, or text, `(fd, text, position, encoding)`. */
export function writeSync(fd, data, offset, length, position) {
  readDescriptor(fd);
  if (typeof data === "string") return writeAll(fd, encodeData(data, length), writingPosition(offset));
  checkView(data, ["string", ...VIEWS]);
  const place = readPlace(offset, length, position);
  return writeAll(fd, partToWrite(data, place), writingPosition(place.position));
}

function checkViews(buffers) {
  if (Array.isArray(buffers) && buffers.every((item) => ArrayBuffer.isView(item))) return;
  throw invalidArgType("buffers", "ArrayBufferView[]", buffers);
}

/** Fills several buffers one after the other. */
export function readvSync(fd, buffers, position = null) {
  readDescriptor(fd);
  checkViews(buffers);
  const start = writingPosition(position);
  let total = 0;
  for (const view of buffers) {
    if (view.byteLength === 0) continue;
    const count = readSync(fd, view, 0, view.byteLength, start < 0 ? null : start + total);
    total += count;
    if (count < view.byteLength) break;
  }
  return total;
}

/** Writes several buffers one after the other. */
export function writevSync(fd, buffers, position = null) {
  readDescriptor(fd);
  checkViews(buffers);
  return writeAll(fd, joinBytes(buffers.map(asBytes)), writingPosition(position));
}

/** Reads an open file from the current position to its end. */
export function readToEnd(fd) {
  const pieces = [];
  for (let size = FIRST_PIECE; ; size = Math.min(size * 2, LARGEST_PIECE)) {
    const piece = attempt(() => fs.read(fd, size, AT_CURRENT_POSITION), "read");
    if (piece.length === 0) return pieces.length === 1 ? pieces[0] : joinBytes(pieces);
    pieces.push(piece);
  }
}
