// B draws.

import * as cryptography from "node:crypto";
import * as fs from "node:fs";

say("math", Math.random());
say("uuid", crypto.randomUUID());
say("values", crypto.getRandomValues(new Uint32Array(2)).join());
say("bytes", cryptography.randomBytes(8).toString("hex"));
say("integer", cryptography.randomInt(2 ** 40));
say("directory", fs.mkdtempSync("/tmp/drawn-"));
say("computed_alike", cryptography.createHash("sha256").update("x").digest("hex"));
