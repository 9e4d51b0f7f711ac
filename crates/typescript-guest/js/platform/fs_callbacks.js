// The functions of `node:fs` with a callback.

import { Buffer } from "./buffer.js";
import { checkFunction } from "./errors.js";
import { cp as copyTree } from "./fs_copy.js";
import * as descriptors from "./fs_descriptors.js";
import { opendirSync } from "./fs_dir.js";
import * as directories from "./fs_directories.js";
import * as files from "./fs_files.js";
import { later, settle } from "./fs_later.js";

const PROMISIFIED = Symbol.for("nodejs.util.promisify.custom");
const DEFAULT_SIZE = 16 * 1024;

/** Splits the arguments of a call into those of the operation and the callback. */
function split(inputs, count) {
  const last = inputs.at(-1);
  const callback = typeof last === "function" ? last : inputs[count];
  checkFunction(callback, "cb");
  return { callback, given: inputs.slice(0, Math.min(count, inputs.lastIndexOf(callback))) };
}

/**
 * Makes the form with a callback.
 * @param {number} count how many arguments may stand before the callback
 */
function withCallback(name, operation, count) {
  const perform = {
    [name](...inputs) {
      const { callback, given } = split(inputs, count);
      later(() => operation(...given), callback);
    },
  };
  return perform[name];
}

/** Callbacks always get an error for a missing file. */
const always = (operation) => (path, options) => operation(path, { bigint: options?.bigint });

export const access = withCallback("access", files.accessSync, 2);
export const appendFile = withCallback("appendFile", files.appendFileSync, 3);
export const chmod = withCallback("chmod", files.chmodSync, 2);
export const copyFile = withCallback("copyFile", files.copyFileSync, 3);
export const fchmod = withCallback("fchmod", descriptors.fchmodSync, 2);
export const fdatasync = withCallback("fdatasync", descriptors.fdatasyncSync, 1);
export const fstat = withCallback("fstat", descriptors.fstatSync, 2);
export const fsync = withCallback("fsync", descriptors.fsyncSync, 1);
export const ftruncate = withCallback("ftruncate", descriptors.ftruncateSync, 2);
export const futimes = withCallback("futimes", descriptors.futimesSync, 3);
export const link = withCallback("link", files.linkSync, 2);
export const lstat = withCallback("lstat", always(files.lstatSync), 2);
export const mkdir = withCallback("mkdir", directories.mkdirSync, 2);
export const mkdtemp = withCallback("mkdtemp", directories.mkdtempSync, 2);
export const open = withCallback("open", descriptors.openSync, 3);
export const opendir = withCallback("opendir", opendirSync, 2);
export const readFile = withCallback("readFile", files.readFileSync, 2);
export const readdir = withCallback("readdir", directories.readdirSync, 2);
export const readlink = withCallback("readlink", files.readlinkSync, 2);
export const realpath = withCallback("realpath", files.realpathSync, 2);
export const rename = withCallback("rename", files.renameSync, 2);
export const rm = withCallback("rm", directories.rmSync, 2);
export const rmdir = withCallback("rmdir", directories.rmdirSync, 2);
export const stat = withCallback("stat", always(files.statSync), 2);
export const symlink = withCallback("symlink", files.symlinkSync, 3);
export const truncate = withCallback("truncate", files.truncateSync, 2);
export const unlink = withCallback("unlink", files.unlinkSync, 1);
export const utimes = withCallback("utimes", files.utimesSync, 3);
export const writeFile = withCallback("writeFile", files.writeFileSync, 3);

realpath.native = withCallback("native", files.realpathNative, 2);

export function close(fd, callback = () => {}) {
  checkFunction(callback, "cb");
  later(() => descriptors.closeSync(fd), callback);
}

/** Answers true or false, never an error. */
export function exists(path, callback) {
  checkFunction(callback, "cb");
  later(
    () => files.existsSync(path),
    (_, found) => callback(found),
  );
}

export function cp(src, dest, options, callback = options) {
  checkFunction(callback, "cb");
  const given = typeof options === "function" ? undefined : options;
  copyTree(src, dest, given).then(
    () => later(() => undefined, callback),
    (error) =>
      later(
        () => undefined,
        () => callback(error),
      ),
  );
}

/** Takes a place in a buffer, an object, or only a callback, for which it makes a buffer. */
export function read(fd, ...inputs) {
  const { callback, given } = split(inputs, 4);
  const [first, ...place] = given;
  const isView = ArrayBuffer.isView(first) || place.length > 0;
  const options = isView ? undefined : { ...first };
  const buffer = isView ? first : (options.buffer ?? Buffer.alloc(DEFAULT_SIZE));
  const perform = () => descriptors.readSync(fd, buffer, ...(isView ? place : [options]));
  later(perform, callback, (count) => [count, buffer]);
}

export function write(fd, data, ...inputs) {
  const { callback, given } = split(inputs, 3);
  later(
    () => descriptors.writeSync(fd, data, ...given),
    callback,
    (count) => [count, data],
  );
}

export function readv(fd, buffers, ...inputs) {
  const { callback, given } = split(inputs, 1);
  later(
    () => descriptors.readvSync(fd, buffers, ...given),
    callback,
    (count) => [count, buffers],
  );
}

export function writev(fd, buffers, ...inputs) {
  const { callback, given } = split(inputs, 1);
  later(
    () => descriptors.writevSync(fd, buffers, ...given),
    callback,
    (count) => [count, buffers],
  );
}

/** The results of `util.promisify` for functions whose callback gets several results. */
const promisified = {
  exists: [exists, (path) => settle(() => files.existsSync(path))],
  read: [read, (...inputs) => gather(read, inputs, "bytesRead", "buffer")],
  write: [write, (...inputs) => gather(write, inputs, "bytesWritten", "buffer")],
  readv: [readv, (...inputs) => gather(readv, inputs, "bytesRead", "buffers")],
  writev: [writev, (...inputs) => gather(writev, inputs, "bytesWritten", "buffers")],
};

function gather(perform, inputs, count, data) {
  return new Promise((resolve, reject) => {
    perform(...inputs, (error, number, value) =>
      error ? reject(error) : resolve({ [count]: number, [data]: value }),
    );
  });
}

for (const [callbackForm, value] of Object.values(promisified)) {
  Object.defineProperty(callbackForm, PROMISIFIED, { value });
}
