// Draws from each source of randomness in the same order as B, and compares the values with B's.

import * as cryptography from "node:crypto";
import * as fs from "node:fs";

const drawn: Record<string, unknown> = {
  math: Math.random(),
  uuid: crypto.randomUUID(),
  values: crypto.getRandomValues(new Uint32Array(2)).join(),
  bytes: cryptography.randomBytes(8).toString("hex"),
  integer: cryptography.randomInt(2 ** 40),
  directory: fs.mkdtempSync("/tmp/drawn-"),
  computed_alike: cryptography.createHash("sha256").update("x").digest("hex"),
};
for (const [name, value] of Object.entries(drawn)) look(name, String(value) === given.before[name]);
