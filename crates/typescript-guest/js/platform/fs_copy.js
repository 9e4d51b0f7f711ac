// `cp` and `cpSync`: copies of files, links and whole directories.

import native from "codeyard:native";
import { checkBoolean, checkFunction, checkObject } from "./errors.js";
import { checkFlag, readBits, readPath } from "./fs_arguments.js";
import { attempt, systemFailure } from "./fs_errors.js";
import {
  copyFileSync,
  lstatSync,
  readlinkSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
} from "./fs_files.js";
import { dirname, isAbsolute, join, resolve } from "./path.js";

const { fs } = native;
const NEW_DIRECTORY = 0o777;
const FLAGS = ["dereference", "errorOnExist", "force", "preserveTimestamps", "recursive", "verbatimSymlinks"];

/** The rules of a copy: what each is called, the system's code and the syscall's word. */
const RULES = {
  same: ["ERR_FS_CP_EINVAL", "Invalid src or dest", "EINVAL"],
  toFile: ["ERR_FS_CP_DIR_TO_NON_DIR", "Cannot overwrite non-directory with directory", "EISDIR"],
  toDirectory: ["ERR_FS_CP_NON_DIR_TO_DIR", "Cannot overwrite directory with non-directory", "ENOTDIR"],
  directory: ["ERR_FS_EISDIR", "Path is a directory", "EISDIR"],
  exists: ["ERR_FS_CP_EEXIST", "Target already exists", "EEXIST"],
  link: ["ERR_FS_CP_SYMLINK_TO_SUBDIRECTORY", "Cannot overwrite symlink in subdirectory of self", "EINVAL"],
  socket: ["ERR_FS_CP_SOCKET", "Cannot copy a socket file", "EINVAL"],
  pipe: ["ERR_FS_CP_FIFO_PIPE", "Cannot copy a FIFO pipe", "EINVAL"],
};

function refuse([errorCode, meaning, code], message, path) {
  return systemFailure(errorCode, meaning, code, "cp", message, path);
}

function readOptions(options) {
  if (options !== undefined) checkObject(options, "options");
  const read = { force: true, mode: 0, ...options };
  for (const name of FLAGS) checkFlag(read, name);
  readBits(read.mode, 0);
  if (read.filter !== undefined) checkFunction(read.filter, "options.filter");
  if (read.dereference && read.verbatimSymlinks) checkBoolean(undefined, "options.verbatimSymlinks");
  return read;
}

const stateOf = (path, { dereference }) =>
  (dereference ? statSync : lstatSync)(path, { throwIfNoEntry: false });
const isSame = (a, b) => a.ino === b.ino && a.dev === b.dev && a.ino !== 0;
const isBelow = (path, directory) =>
  `${resolve(path)}/`.startsWith(`${resolve(directory)}/`.replace("//", "/"));

/** Throws if `from` must not be copied to `to`; returns the state of both. */
function checkPair(from, to, options) {
  const source = (options.dereference ? statSync : lstatSync)(from);
  const target = stateOf(to, options);
  if (target !== undefined) {
    if (isSame(source, target)) throw refuse(RULES.same, "src and dest cannot be the same", to);
    if (source.isDirectory() && !target.isDirectory()) {
      throw refuse(RULES.toFile, `cannot overwrite non-directory ${to} with directory ${from}`, to);
    }
    if (!source.isDirectory() && target.isDirectory()) {
      throw refuse(RULES.toDirectory, `cannot overwrite directory ${to} with non-directory ${from}`, to);
    }
  }
  if (source.isDirectory() && !options.recursive) {
    throw refuse(RULES.directory, `${from} is a directory (not copied)`, from);
  }
  if (source.isDirectory() && isBelow(to, from)) {
    throw refuse(RULES.same, `cannot copy ${from} to a subdirectory of self ${to}`, to);
  }
  return { source, target };
}

function copyFile(from, to, { source, target }, options) {
  if (target !== undefined) {
    if (!options.force) {
      if (options.errorOnExist) throw refuse(RULES.exists, `${to} already exists`, to);
      return;
    }
    unlinkSync(to);
  }
  copyFileSync(from, to, options.mode);
  if (options.preserveTimestamps) utimesSync(to, source.atimeMs / 1000, source.mtimeMs / 1000);
}

function copyLink(from, to, { target }, options) {
  let aim = readlinkSync(from);
  if (!options.verbatimSymlinks && !isAbsolute(aim)) aim = resolve(dirname(from), aim);
  if (target?.isSymbolicLink()) {
    const old = resolve(dirname(to), readlinkSync(to));
    const isDirectory = statSync(to, { throwIfNoEntry: false })?.isDirectory();
    if (isDirectory && old !== aim && isBelow(aim, old))
      throw refuse(RULES.link, `cannot overwrite ${old} with ${aim}`, to);
    unlinkSync(to);
  }
  symlinkSync(aim, to);
}

function copyOther(from, to, states, options) {
  const { source } = states;
  if (source.isSymbolicLink()) copyLink(from, to, states, options);
  else if (source.isSocket()) throw refuse(RULES.socket, `cannot copy a socket file: ${to}`, to);
  else if (source.isFIFO()) throw refuse(RULES.pipe, `cannot copy a FIFO pipe: ${to}`, to);
  else copyFile(from, to, states, options);
}

function makeDirectory(path, mode = NEW_DIRECTORY) {
  attempt(() => fs.makeDirectory(path, true, mode), "mkdir", path);
}

/**
 * Copies step by step. It yields each answer of the filter and goes on with the value that it gets for it,
 * so that the asynchronous form can wait for answers that are promises.
 */
function* copySteps(from, to, options) {
  const states = checkPair(from, to, options);
  if (options.filter && !(yield options.filter(from, to))) return;
  if (!states.source.isDirectory()) {
    copyOther(from, to, states, options);
    return;
  }
  if (states.target === undefined) makeDirectory(to);
  for (const { name } of attempt(() => fs.readDirectory(from), "scandir", from)) {
    yield* copySteps(join(from, name), join(to, name), options);
  }
  if (states.target === undefined) attempt(() => fs.chmod(to, states.source.mode & 0o7777), "chmod", to);
}

function begin(src, dest, options) {
  const read = readOptions(options);
  const from = readPath(src, "src");
  const to = readPath(dest, "dest");
  checkPair(from, to, read);
  makeDirectory(dirname(to));
  return copySteps(from, to, read);
}

export function cpSync(src, dest, options = undefined) {
  const steps = begin(src, dest, options);
  for (let step = steps.next(); !step.done; step = steps.next(step.value));
}

/** The same; the filter may answer with a promise. */
export async function cp(src, dest, options = undefined) {
  const steps = begin(src, dest, options);
  for (let step = steps.next(); !step.done; step = steps.next(await step.value));
}
