// Lines of JSON to the parent, and from it.
import { Buffer } from "node:buffer";
import fs from "node:fs";
import net from "node:net";
import process from "node:process";

const { stringify, parse } = JSON;
const { writeSync } = fs;
const { concat } = Buffer;
const { indexOf, subarray, toString } = Buffer.prototype;
const { apply } = Reflect;
const NEWLINE = 10;

const isDeno = "Deno" in globalThis;
const [reads, writes] = process.argv.slice(-2).map(Number);

/** The descriptor by which this engine knows the pipe of its messages. */
const target = isDeno ? fs.openSync(`/proc/self/fd/${writes}`, "w") : writes;

/** Sends a message. The parent reads at any time, so this never waits for long. */
export function send(message) {
  const line = Buffer.from(`${stringify(message)}\n`);
  let sent = 0;
  while (sent < line.length) sent += writeSync(target, line, sent);
}

/** Calls `take` with each message from now on. The end of the parent is the end of this process. */
export function receive(take) {
  let rest = Buffer.alloc(0);
  const source = isDeno ? fs.createReadStream(`/proc/self/fd/${reads}`) : new net.Socket({ fd: reads, writable: false });
  source.on("data", (chunk) => {
    rest = rest.length === 0 ? chunk : concat([rest, chunk]);
    for (;;) {
      const end = apply(indexOf, rest, [NEWLINE]);
      if (end === -1) return;
      const line = apply(toString, apply(subarray, rest, [0, end]), ["utf8"]);
      rest = apply(subarray, rest, [end + 1]);
      take(parse(line));
    }
  });
  source.on("close", () => process.reallyExit(0));
}
