// Asks the engine and its native functions for single values that are larger than the memory.

import * as cryptography from "node:crypto";
import * as fs from "node:fs";

const GIB = 2 ** 30;
const LARGE = 60 << 20;

await attempt("text", () => "x".repeat(GIB));
await attempt("padded_text", () => "x".padStart(GIB - 1));
await attempt("array_buffer", () => new ArrayBuffer(2 ** 40));
await attempt("growing_buffer", () => new ArrayBuffer(8, { maxByteLength: 2 ** 40 }).resize(2 ** 39));
await attempt("typed_array", () => new Float64Array(GIB));
await attempt("buffer", () => Buffer.alloc(2 * GIB));
await attempt("number", () => 2n ** (2n ** 40n));
await attempt("shifted_number", () => 1n << (2n ** 62n));
await attempt("file", () => fs.readFileSync("/dev/zero"));
await attempt("random_bytes", () => cryptography.randomBytes(2 ** 31 - 1));
await attempt("encoded_text", () => new TextEncoder().encode("x".repeat(LARGE)));
await attempt("hexadecimal_text", () => Buffer.alloc(LARGE).toString("hex"));
await attempt("decoded_text", () => Buffer.from("ab".repeat(LARGE), "hex"));
await attempt("written_text", () => fs.writeFileSync("/dev/null", "x".repeat(LARGE)));
await attempt("path", () => fs.readdirSync("x".repeat(LARGE)));
say("after_all", "allowed");
