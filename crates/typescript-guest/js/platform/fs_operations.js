// Everything that `node:fs` exports, from the files that define it.

import { constants } from "./fs_constants.js";

export * from "./fs_absent.js";
export * from "./fs_callbacks.js";
export { constants };
export { cpSync } from "./fs_copy.js";
export {
  closeSync,
  fchmodSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  futimesSync,
  openSync,
  readSync,
  readvSync,
  writeSync,
  writevSync,
} from "./fs_descriptors.js";
export { Dir, opendirSync } from "./fs_dir.js";
export { mkdirSync, mkdtempSync, readdirSync, rmSync, rmdirSync } from "./fs_directories.js";
export {
  accessSync,
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "./fs_files.js";
export { default as promises } from "./fs_promises.js";
export { Dirent, Stats } from "./fs_stats.js";

export const { F_OK, R_OK, W_OK, X_OK } = constants;
