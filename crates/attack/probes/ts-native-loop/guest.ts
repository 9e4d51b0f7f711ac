// Copies an endless device: a loop of the native code, which the engine cannot interrupt.

import * as fs from "node:fs";

fs.copyFileSync("/dev/zero", "/dev/null");
say("copied", "allowed");
