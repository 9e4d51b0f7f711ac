// Operations on files by their paths, at once: `readFileSync`, `writeFileSync`, `statSync` and others.

import native from "codeyard:native";
import { checkObject, withCode } from "./errors.js";
import {
  asEncoded,
  checkFlag,
  encodeName,
  readBits,
  readData,
  readFlags,
  readLength,
  readMode,
  readOptions,
  readPath,
  readTime,
} from "./fs_arguments.js";
import { constants } from "./fs_constants.js";
import { closeSync, fstatSync, ftruncateSync, openSync, readToEnd, writeAll } from "./fs_descriptors.js";
import { attempt, systemError } from "./fs_errors.js";
import { makeStats } from "./fs_stats.js";
import { resolve } from "./path.js";

const { fs } = native;
const { O_RDONLY, COPYFILE_EXCL } = constants;
const NEW_FILE = 0o666;

/** Whether a value names an open file instead of a path. */
const isDescriptor = (value) => typeof value === "number" && value >>> 0 === value;

/** Opens a file for the time of an operation. */
function withFile(path, flags, mode, operation) {
  const fd = openSync(path, flags, mode);
  try {
    return operation(fd);
  } finally {
    closeSync(fd);
  }
}

/** A file's bytes; a directory opens, but it cannot be read. */
function readWhole(name) {
  try {
    return fs.readFile(name);
  } catch (error) {
    if (error?.code === "EISDIR") throw systemError("EISDIR", "read");
    throw systemError(error.code, "open", name);
  }
}

export function readFileSync(path, options = undefined) {
  const { encoding, flag } = readOptions(options, { flag: "r" });
  if (isDescriptor(path)) {
    fstatSync(path);
    return asEncoded(readToEnd(path), encoding);
  }
  const name = readPath(path);
  const isPlain = readFlags(flag) === O_RDONLY;
  return asEncoded(isPlain ? readWhole(name) : withFile(name, flag, NEW_FILE, readToEnd), encoding);
}

export function writeFileSync(path, data, options = undefined) {
  const { encoding, flag, mode, ...others } = readOptions(options, {
    encoding: "utf8",
    mode: NEW_FILE,
    flag: "w",
  });
  checkFlag(others, "flush");
  const bytes = readData(data, encoding);
  if (isDescriptor(path)) {
    writeAll(path, bytes);
    return;
  }
  const name = readPath(path);
  const number = readFlags(flag);
  const bits = readMode(mode, "mode", NEW_FILE);
  attempt(() => fs.writeFile(name, bytes, number, bits), "open", name);
}

export function appendFileSync(path, data, options = undefined) {
  const read = readOptions(options, { encoding: "utf8", mode: NEW_FILE, flag: "a" });
  writeFileSync(path, data, { ...read, flag: read.flag || "a" });
}

export function copyFileSync(src, dest, mode = 0) {
  const from = readPath(src, "src");
  const to = readPath(dest, "dest");
  const isExclusive = (readBits(mode, 0) & COPYFILE_EXCL) !== 0;
  attempt(() => fs.copyFile(from, to, isExclusive), "copyfile", from, to);
}

export function truncateSync(path, length = 0) {
  if (isDescriptor(path)) {
    ftruncateSync(path, length);
    return;
  }
  const size = readLength(length);
  withFile(path, "r+", NEW_FILE, (fd) => ftruncateSync(fd, size));
}

export function existsSync(path) {
  try {
    fs.access(readPath(path), constants.F_OK);
    return true;
  } catch {
    return false;
  }
}

export function accessSync(path, mode = constants.F_OK) {
  const name = readPath(path);
  const bits = readBits(mode, constants.F_OK);
  attempt(() => fs.access(name, bits), "access", name);
}

function statWith(path, options, syscall) {
  const name = readPath(path);
  if (options !== undefined && options !== null) checkObject(options, "options");
  try {
    return makeStats(fs.stat(name, syscall === "stat"), options);
  } catch (error) {
    if (options?.throwIfNoEntry === false && error?.code === "ENOENT") return undefined;
    throw systemError(error.code, syscall, name);
  }
}

export function statSync(path, options = undefined) {
  return statWith(path, options, "stat");
}

export function lstatSync(path, options = undefined) {
  return statWith(path, options, "lstat");
}

export function chmodSync(path, mode) {
  const name = readPath(path);
  const bits = readMode(mode);
  attempt(() => fs.chmod(name, bits), "chmod", name);
}

export function utimesSync(path, atime, mtime) {
  const name = readPath(path);
  const accessed = readTime(atime);
  const modified = readTime(mtime);
  attempt(() => fs.utimes(name, accessed, modified), "utime", name);
}

export function unlinkSync(path) {
  const name = readPath(path);
  attempt(() => fs.removeFile(name), "unlink", name);
}

export function renameSync(oldPath, newPath) {
  const from = readPath(oldPath, "oldPath");
  const to = readPath(newPath, "newPath");
  attempt(() => fs.rename(from, to), "rename", from, to);
}

export function linkSync(existingPath, newPath) {
  const from = readPath(existingPath, "existingPath");
  const to = readPath(newPath, "newPath");
  attempt(() => fs.link(from, to), "link", from, to);
}

export function symlinkSync(target, path, type = undefined) {
  if (type !== undefined && type !== null && !["dir", "file", "junction"].includes(type)) {
    const message = `Symlink type must be one of "dir", "file", or "junction". Received "${type}"`;
    throw withCode(new Error(message), "ERR_FS_INVALID_SYMLINK_TYPE");
  }
  const to = readPath(target, "target");
  const name = readPath(path);
  attempt(() => fs.symlink(to, name), "symlink", to, name);
}

export function readlinkSync(path, options = undefined) {
  const { encoding } = readOptions(options);
  const name = readPath(path);
  return encodeName(
    attempt(() => fs.readLink(name), "readlink", name),
    encoding,
  );
}

/** Finds the part of a path at which it cannot be followed, as the step by step search of Node does. */
function explainRealPath(path, code) {
  let isLink = false;
  let prefix = "";
  for (const part of path.split("/").slice(1)) {
    prefix += `/${part}`;
    try {
      isLink = fs.stat(prefix, false).kind === "symlink";
      if (isLink) attempt(() => fs.stat(prefix, true), "stat", prefix);
    } catch (error) {
      return isLink ? error : systemError(error.code, "lstat", prefix);
    }
  }
  return systemError(code, "realpath", path);
}

export function realpathSync(path, options = undefined) {
  const { encoding } = readOptions(options);
  const name = resolve(readPath(path));
  try {
    return encodeName(fs.realPath(name), encoding);
  } catch (error) {
    throw explainRealPath(name, error.code);
  }
}

/** Asks the system for the real path; this is also what promises do. */
export function realpathNative(path, options = undefined) {
  const { encoding } = readOptions(options);
  const name = readPath(path);
  return encodeName(
    attempt(() => fs.realPath(name), "realpath", name),
    encoding,
  );
}

realpathSync.native = realpathNative;
