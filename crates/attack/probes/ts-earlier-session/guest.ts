// Looks for what the session before has left, and for what the engine keeps of its own rehearsal.

import * as fs from "node:fs";

const shared = globalThis as any;
const NAMES_OF_REHEARSAL = ["rows", "Row", "Total", "total", "again", "grouped"];

await attempt("tmp", () => fs.readFileSync("/tmp/left-behind"));
await attempt("scratch", () => fs.readFileSync("/scratch/left-behind"));
await attempt("home", () => fs.readFileSync("/home/left-behind"));
await attempt("shared_memory", () => fs.readFileSync("/dev/shm/left-behind"));
await attempt("kept_result", () => shared.keptResult());
look("global", "leftBehind" in shared);
look("prototype", "leftOnPrototype" in {});
look("replaced_method", Math.random() === 0.25);
look("environment", "LEFT" in process.env);
look("directory", process.cwd() !== fs.realpathSync("/workspace"));
look("names_of_rehearsal", NAMES_OF_REHEARSAL.some((name) => name in shared));
fs.writeFileSync("/tmp/left-behind", "own");
await attempt("own_file", () => fs.readFileSync("/tmp/left-behind"));
