// Writes data that may come in pieces to an open file.

import { asBytes, encodeData, readData } from "./fs_arguments.js";
import { writeAll } from "./fs_descriptors.js";
import { abortOf } from "./abort_error.js";
import { Buffer } from "./buffer.js";
import { settle } from "./fs_later.js";

/** Whether data comes in pieces: from a list, a generator or a stream. */
export function comesInPieces(data) {
  if (data === null || typeof data !== "object" || ArrayBuffer.isView(data)) return false;
  return typeof data[Symbol.asyncIterator] === "function" || typeof data[Symbol.iterator] === "function";
}

function pieceOf(value, encoding) {
  if (typeof value === "string") return encodeData(value, encoding);
  return asBytes(ArrayBuffer.isView(value) ? value : Buffer.from(value));
}

/** Writes data at the current position of an open file. */
export async function writeChunks(fd, data, encoding, signal = undefined) {
  if (!comesInPieces(data)) {
    const bytes = readData(data, encoding);
    await settle(() => writeAll(fd, bytes), signal);
    return;
  }
  for await (const piece of data) {
    if (signal?.aborted) throw abortOf(signal);
    writeAll(fd, pieceOf(piece, encoding));
  }
}
