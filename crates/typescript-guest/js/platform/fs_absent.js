// Functions of `node:fs` that are not available here; each throws an error that names an alternative.

import { withCode } from "./errors.js";

const READ =
  "streams of files are not available; use readFile(path), or for await (const line of handle.readLines())";
const WRITE = "streams of files are not available; use writeFile(path, data) or appendFile(path, data)";
const WATCH = "changes of files are not reported; call stat(path) when you need to know";
const OWNER = "all files of a program have one owner";
const LINK = "times of a link cannot be set; use utimes(path, atime, mtime) for its target";
const SPACE = "the size of the disk is not reported";
const BLOB = "use new Blob([await readFile(path)])";

/** Makes a function that only throws, with a name that stands in its message. */
function absent(name, reason) {
  const refuse = {
    [name]() {
      throw withCode(new Error(`fs.${name}: ${reason}`), "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM");
    },
  };
  return refuse[name];
}

export const createReadStream = absent("createReadStream", READ);
export const createWriteStream = absent("createWriteStream", WRITE);
export const watch = absent("watch", WATCH);
export const watchFile = absent("watchFile", WATCH);
export const unwatchFile = absent("unwatchFile", WATCH);
export const chown = absent("chown", OWNER);
export const chownSync = absent("chownSync", OWNER);
export const fchown = absent("fchown", OWNER);
export const fchownSync = absent("fchownSync", OWNER);
export const lchown = absent("lchown", OWNER);
export const lchownSync = absent("lchownSync", OWNER);
export const lutimes = absent("lutimes", LINK);
export const lutimesSync = absent("lutimesSync", LINK);
export const statfs = absent("statfs", SPACE);
export const statfsSync = absent("statfsSync", SPACE);
export const openAsBlob = absent("openAsBlob", BLOB);
