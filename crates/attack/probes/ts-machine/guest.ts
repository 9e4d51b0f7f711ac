// Calls each function that describes the machine or the process. The kernel refuses some of the questions.

import * as os from "node:os";

/** Calls the functions of these names; fails if one throws anything but an error, such as a part of the engine. */
function callAll(owner: any, names: string[]): void {
  for (const name of names) {
    let thrown: any = new Error("none");
    try {
      owner[name]();
    } catch (error) {
      thrown = error;
    }
    if (!(thrown instanceof Error)) throw new TypeError(`${name} threw something else`);
  }
}

await attempt("system", () => callAll(os, ["totalmem", "freemem", "uptime", "loadavg", "release", "cpus"]));
await attempt("user", () => callAll(os, ["userInfo", "homedir", "tmpdir", "hostname", "networkInterfaces"]));
await attempt("process", () => callAll(process, ["getuid", "getgid", "memoryUsage", "cpuUsage", "hrtime"]));
say("after_all", "allowed");
