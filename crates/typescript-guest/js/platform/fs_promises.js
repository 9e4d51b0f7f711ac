// The module `node:fs/promises`.

import { checkSignal } from "./abort_error.js";
import { FileHandle, open } from "./file_handle.js";
import { chown, lchown, lutimes, statfs, watch } from "./fs_absent.js";
import { readFlags, readMode, readOptions, readPath } from "./fs_arguments.js";
import { constants } from "./fs_constants.js";
import { cp as copyTree } from "./fs_copy.js";
import { opendirSync } from "./fs_dir.js";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, rmdirSync } from "./fs_directories.js";
import {
  accessSync,
  chmodSync,
  copyFileSync,
  linkSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  realpathNative,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "./fs_files.js";
import { settle } from "./fs_later.js";
import { comesInPieces } from "./fs_write.js";

const NEW_FILE = 0o666;

/** Makes a function that performs an operation and returns a promise of its result. */
function promised(name, operation) {
  const perform = {
    [name](...inputs) {
      return settle(() => operation(...inputs));
    },
  };
  return perform[name];
}

/** Promises always reject for a missing file. */
const always = (operation) => (path, options) => operation(path, { bigint: options?.bigint });

export const access = promised("access", accessSync);
export const chmod = promised("chmod", chmodSync);
export const copyFile = promised("copyFile", copyFileSync);
export const link = promised("link", linkSync);
export const lstat = promised("lstat", always(lstatSync));
export const mkdir = promised("mkdir", mkdirSync);
export const mkdtemp = promised("mkdtemp", mkdtempSync);
export const opendir = promised("opendir", opendirSync);
export const readdir = promised("readdir", readdirSync);
export const readlink = promised("readlink", readlinkSync);
export const realpath = promised("realpath", realpathNative);
export const rename = promised("rename", renameSync);
export const rm = promised("rm", rmSync);
export const rmdir = promised("rmdir", rmdirSync);
export const stat = promised("stat", always(statSync));
export const symlink = promised("symlink", symlinkSync);
export const truncate = promised("truncate", (path, length) => truncateSync(readPath(path), length));
export const unlink = promised("unlink", unlinkSync);
export const utimes = promised("utimes", utimesSync);

export async function cp(src, dest, options = undefined) {
  await settle(() => {});
  await copyTree(src, dest, options);
}

export async function readFile(path, options = undefined) {
  if (path instanceof FileHandle) return path.readFile(options);
  const read = readOptions(options, { flag: "r" });
  return settle(() => readFileSync(readPath(path), read), read.signal);
}

export async function writeFile(path, data, options = undefined) {
  const { encoding, flag, mode, signal } = readOptions(options, {
    encoding: "utf8",
    mode: NEW_FILE,
    flag: "w",
  });
  if (path instanceof FileHandle) return path.writeFile(data, { encoding, signal });
  if (!comesInPieces(data)) {
    return settle(() => writeFileSync(readPath(path), data, { encoding, flag, mode }), signal);
  }
  checkSignal(signal, "options.signal");
  const handle = await open(readPath(path), readFlags(flag), readMode(mode, "mode", NEW_FILE));
  try {
    return await handle.writeFile(data, { encoding, signal });
  } finally {
    await handle.close();
  }
}

export async function appendFile(path, data, options = undefined) {
  const read = readOptions(options, { encoding: "utf8", mode: NEW_FILE, flag: "a" });
  return writeFile(path, data, { ...read, flag: read.flag || "a" });
}

export { chown, constants, lchown, lutimes, open, statfs, watch };

export default {
  access,
  appendFile,
  chmod,
  chown,
  constants,
  copyFile,
  cp,
  lchown,
  link,
  lstat,
  lutimes,
  mkdir,
  mkdtemp,
  open,
  opendir,
  readFile,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  statfs,
  symlink,
  truncate,
  unlink,
  utimes,
  watch,
  writeFile,
};
