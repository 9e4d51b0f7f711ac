// An earlier session leaves a secret in its globals, its prototypes and its files.

import * as fs from "node:fs";

const secret = `${given.token}-left`;
(globalThis as any).leftBehind = secret;
(Object.prototype as any).leftOnPrototype = secret;
Math.random = () => 0.25;
process.env.LEFT = secret;
process.exitCode = 0;
for (const place of ["/tmp", "/scratch", "/home"]) fs.writeFileSync(`${place}/left-behind`, secret);
// Not every backend has shared memory.
await attempt("shared_memory", () => fs.writeFileSync("/dev/shm/left-behind", secret));
process.chdir("/tmp");
