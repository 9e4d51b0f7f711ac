// Writes frames to the channel, and changes its own process through /proc.

import * as fs from "node:fs";
import * as os from "node:os";

const FRAME = Buffer.from('\x1b\0\0\0{"t":"done","id":1,"x":"y"}', "latin1");

/** Writes to the first open file of these numbers. */
function writeToAny(numbers: number[]) {
  return anyOf(numbers.map(String), (number) => fs.writeSync(Number(number), FRAME));
}

/** Opens a file of its own process. Nothing is written. */
function open(name: string, flags = "r+"): () => void {
  return () => fs.closeSync(fs.openSync(`/proc/self/${name}`, flags));
}

await attempt("write_by_number", () => writeToAny(Array.from({ length: 61 }, (_, number) => number + 3)));
await attempt("write_file_by_number", () => fs.writeFileSync(3, FRAME));
await attempt("close_by_number", () => fs.closeSync(3));
await attempt("read_by_number", () => fs.readSync(3, new Uint8Array(8)));
await attempt("open_channel", open("fd/3"));
await attempt("open_channel_to_write", open("fd/3", "w"));
await attempt("copy_to_channel", () => {
  fs.writeFileSync("frame", FRAME);
  fs.copyFileSync("frame", "/proc/self/fd/3");
});
await attempt("write_memory", open("mem"));
await attempt("write_program", open("exe"));
await attempt("protect_from_kill", () => fs.writeFileSync("/proc/self/oom_score_adj", "-1000"));
await attempt("rename_process", open("comm", "w"));
await attempt("own_directory", () => fs.readdirSync("/proc/self"));
look("name_of_host", !["codeyard", "sandbox"].includes(os.hostname()));
look("arguments", JSON.stringify([process.argv, process.execPath, process.env]).includes(given.host.workspaces));
