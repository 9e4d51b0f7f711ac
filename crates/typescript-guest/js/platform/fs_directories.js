// Operations on directories, at once: `mkdirSync`, `readdirSync`, `rmSync` and others.

import native from "codeyard:native";
import { checkBoolean, checkInteger, checkObject } from "./errors.js";
import { checkFlag, encodeName, readMode, readOptions, readPath } from "./fs_arguments.js";
import { attempt, systemError, systemFailure } from "./fs_errors.js";
import { Dirent } from "./fs_stats.js";
import { join } from "./path.js";

const { fs } = native;
const NEW_DIRECTORY = 0o777;
const LARGEST_UINT32 = 2 ** 32 - 1;

export function mkdirSync(path, options = undefined) {
  const isMode = typeof options === "number" || typeof options === "string";
  const { recursive = false, mode = undefined } = isMode ? { mode: options } : (options ?? {});
  const name = readPath(path);
  checkBoolean(recursive, "options.recursive");
  const bits = readMode(mode, "mode", NEW_DIRECTORY);
  const first = attempt(() => fs.makeDirectory(name, recursive, bits), "mkdir", name);
  return recursive ? first : undefined;
}

export function mkdtempSync(prefix, options = undefined) {
  const { encoding } = readOptions(options);
  const start = readPath(prefix, "prefix");
  return encodeName(
    attempt(() => fs.makeTemporaryDirectory(start), "mkdtemp", `${start}XXXXXX`),
    encoding,
  );
}

/** The entries of a directory: those of its own first, then those of each directory below it. */
function readAll(path, recursive) {
  const found = [];
  const waiting = [{ directory: path, prefix: "" }];
  for (let next = 0; next < waiting.length; next += 1) {
    const { directory, prefix } = waiting[next];
    for (const { name, kind } of attempt(() => fs.readDirectory(directory), "scandir", directory)) {
      found.push({ name, kind, directory, path: `${prefix}${name}` });
      if (recursive && kind === "directory") {
        waiting.push({ directory: join(directory, name), prefix: `${prefix}${name}/` });
      }
    }
  }
  return found;
}

export function readdirSync(path, options = undefined) {
  const { encoding, withFileTypes, recursive } = readOptions(options);
  const name = readPath(path);
  if (recursive !== undefined && recursive !== null) checkBoolean(recursive, "options.recursive");
  const entries = readAll(name, Boolean(recursive));
  if (!withFileTypes) return entries.map((entry) => encodeName(entry.path, encoding));
  return entries.map((entry) => new Dirent(encodeName(entry.name, encoding), entry.kind, entry.directory));
}

function checkRetries(options) {
  const { retryDelay = 100, maxRetries = 0 } = options;
  checkInteger(retryDelay, "options.retryDelay", 0, 2 ** 31 - 1);
  checkInteger(maxRetries, "options.maxRetries", 0, LARGEST_UINT32);
}

export function rmdirSync(path, options = undefined) {
  const name = readPath(path);
  if (options !== undefined) checkObject(options, "options");
  const { recursive = false } = options ?? {};
  checkBoolean(recursive, "options.recursive");
  checkRetries(options ?? {});
  if (recursive && attempt(() => fs.stat(name, false), "lstat", name).kind === "directory") {
    attempt(() => fs.removeTree(name), "rm", name);
  } else {
    attempt(() => fs.removeDirectory(name), "rmdir", name);
  }
}

/** The kind of what a path names; `undefined` if there is nothing and that is allowed. */
function kindOf(path, isMissingAllowed) {
  try {
    return fs.stat(path, false).kind;
  } catch (error) {
    if (isMissingAllowed && error?.code === "ENOENT") return undefined;
    throw systemError(error.code, "lstat", path);
  }
}

export function rmSync(path, options = undefined) {
  const name = readPath(path);
  if (options !== undefined) checkObject(options, "options");
  const { force = false, recursive = false } = options ?? {};
  checkFlag({ force }, "force");
  checkFlag({ recursive }, "recursive");
  checkRetries(options ?? {});
  const kind = kindOf(name, force);
  if (kind === undefined) return;
  if (kind !== "directory") attempt(() => fs.removeFile(name), "unlink", name);
  else if (recursive) attempt(() => fs.removeTree(name), "rm", name);
  else throw systemFailure("ERR_FS_EISDIR", "Path is a directory", "EISDIR", "rm", "is a directory", name);
}
