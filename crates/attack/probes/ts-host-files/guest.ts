// Reads files of the host: by path, by climbing, through links and /proc, and as modules.

import * as fs from "node:fs";

const CANARY: string = given.host.file;
const VICTIM = `/proc/${given.host.victim}`;
const UP = "../".repeat(40);
const KERNEL = ["kcore", "kallsyms", "cmdline", "keys", "meminfo", "sys/kernel/core_pattern", "modules"];
const DEVICES = ["mem", "kmsg", "tty", "fuse", "kvm", "ptmx", "net/tun", "loop-control", "rtc0", "hwrng"];

function throughLink() {
  const link = `link-${crypto.randomUUID()}`;
  fs.symlinkSync(CANARY, link);
  return fs.readFileSync(link);
}

function otherProcesses() {
  const own = fs.readlinkSync("/proc/self");
  let names: string[] = [];
  try {
    names = fs.readdirSync("/proc");
  } catch {
    // Without namespaces the whole directory is closed.
  }
  return names.some((name) => /^\d+$/.test(name) && name !== own);
}

await attempt("shadow", () => fs.readFileSync("/etc/shadow"));
await attempt("canary", () => fs.readFileSync(CANARY));
await attempt("canary_by_url", () => fs.readFileSync(new URL(`file://${CANARY}`)));
await attempt("canary_later", () => fs.promises.readFile(CANARY));
await attempt("canary_opened", () => fs.openSync(CANARY, "r"));
await attempt("canary_copied", () => fs.copyFileSync(CANARY, "copy"));
await attempt("list_directory_of_canary", () => fs.readdirSync(given.host.directory));
await attempt("by_climbing", () => fs.readFileSync(UP + CANARY.slice(1)));
await attempt("through_root", () => fs.readFileSync(`/proc/self/root/${UP}${CANARY.slice(1)}`));
await attempt("through_working_directory", () => fs.readFileSync(`/proc/self/cwd/${UP}${CANARY.slice(1)}`));
await attempt("through_link", throughLink);
await attempt("root_home", () => fs.readdirSync("/root"));
await attempt("homes", () => fs.statSync("/home/../root"));
await attempt("sys", () => fs.readdirSync("/sys/kernel"));
await attempt("run", () => fs.readdirSync("/run"));
await attempt("var", () => fs.readdirSync("/var/lib"));
await attempt("kernel_files", () => anyOf(KERNEL, (name) => fs.closeSync(fs.openSync(`/proc/${name}`, "r"))));
await attempt("devices", () => anyOf(DEVICES, (name) => fs.statSync(`/dev/${name}`)));
await attempt("victim", () => fs.readFileSync(`${VICTIM}/cmdline`));
await attempt("root_of_victim", () => fs.readdirSync(`${VICTIM}/root/`));
await attempt("import_canary", () => import(CANARY));
await attempt("import_by_url", () => import(`file://${CANARY}`));
await attempt("import_by_climbing", () => import(UP + CANARY.slice(1)));
await attempt("import_environment", () => import("/proc/self/environ"));
look("other_processes", otherProcesses());
