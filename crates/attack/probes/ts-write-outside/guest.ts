// Writes outside its own directories, changes files there, and makes set-user-id files of its own.

import * as fs from "node:fs";

const CANARY: string = given.host.file;
// Not a program: others could not start it while it is open for writing.
const SYSTEM_FILE = "/usr/lib/os-release";
const SET_USER_ID = 0o4755;
const SET_GROUP_ID = 0o2755;

/** Makes a file of its own and returns its name. */
function own(name: string): string {
  fs.writeFileSync(name, "");
  return name;
}

function chmodOpen(name: string) {
  const file = fs.openSync(own(name), "r+");
  try {
    fs.fchmodSync(file, SET_USER_ID);
  } finally {
    fs.closeSync(file);
  }
}

await attempt("write_canary", () => fs.writeFileSync(CANARY, "changed"));
await attempt("append_to_canary", () => fs.appendFileSync(CANARY, "changed"));
await attempt("truncate_canary", () => fs.truncateSync(CANARY, 0));
await attempt("rename_canary", () => fs.renameSync(CANARY, `${CANARY}-renamed`));
await attempt("remove_canary", () => fs.rmSync(CANARY));
await attempt("remove_directory_of_canary", () => fs.rmSync(given.host.directory, { recursive: true }));
await attempt("make_directories", () => fs.mkdirSync("/var/lib/made/deep", { recursive: true }));
await attempt("write_system_file", () => fs.openSync(SYSTEM_FILE, "r+"));
await attempt("write_users", () => fs.openSync("/etc/passwd", "a"));
await attempt("write_own_program", () => fs.openSync("/proc/self/exe", "r+"));
await attempt("make_in_root", () => fs.writeFileSync("/made", ""));
await attempt("make_in_system", () => fs.writeFileSync("/usr/lib/made", ""));
await attempt("make_in_own_programs", () => fs.writeFileSync("/opt/codeyard/made", ""));
await attempt("touch_system_file", () => fs.utimesSync(SYSTEM_FILE, 1, 1));
await attempt("chmod_system_file", () => fs.chmodSync(SYSTEM_FILE, 0o777));
await attempt("chmod_user", () => fs.chmodSync(own("a"), SET_USER_ID));
await attempt("chmod_group", () => fs.chmodSync(own("b"), SET_GROUP_ID));
await attempt("fchmod_user", () => chmodOpen("c"));
await attempt("open_user", () => fs.closeSync(fs.openSync("d", "w", SET_USER_ID)));
await attempt("write_user", () => fs.writeFileSync("e", "", { mode: SET_USER_ID }));
await attempt("mkdir_user", () => fs.mkdirSync("f", { mode: SET_USER_ID }));
await attempt("chmod", () => fs.chmodSync(own("g"), 0o755));
