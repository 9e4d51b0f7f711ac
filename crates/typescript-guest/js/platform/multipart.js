// Forms as bytes: `multipart/form-data` and `application/x-www-form-urlencoded`.

import native from "codeyard:native";
import { File } from "./blob.js";
import { joinBytes } from "./bytes.js";
import { URLSearchParams } from "./url_search_params.js";

const { decode, encode, indexOf, random } = native;
const BOUNDARY_BYTES = 12;
const NONE = -1;

const bytesOf = (text) => encode(text, "utf8");
const textOf = (bytes) => decode(bytes, "utf8", false);
const escapeName = (name) => name.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");
const normalizeLines = (text) => text.replace(/\r\n|\r|\n/g, "\r\n");

/** How to read a form as bytes, and the type of these. */
export function encodeForm(form) {
  const boundary = `----formdata-codeyard-${decode(random(BOUNDARY_BYTES), "hex", false)}`;
  const read = async () => {
    const pieces = [];
    for (const [name, value] of form) pieces.push(...(await encodeField(boundary, name, value)));
    pieces.push(bytesOf(`--${boundary}--\r\n`));
    return joinBytes(pieces);
  };
  return { read, type: `multipart/form-data; boundary=${boundary}` };
}

async function encodeField(boundary, name, value) {
  const start = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(normalizeLines(name))}"`;
  if (typeof value === "string") return [bytesOf(`${start}\r\n\r\n${normalizeLines(value)}\r\n`)];
  const type = value.type || "application/octet-stream";
  const head = `${start}; filename="${escapeName(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`;
  return [bytesOf(head), new Uint8Array(await value.arrayBuffer()), bytesOf("\r\n")];
}

/** The fields of a form of the given type. */
export function decodeForm(bytes, type) {
  const kind = (type ?? "").split(";")[0].trim().toLowerCase();
  if (kind === "application/x-www-form-urlencoded") return [...new URLSearchParams(textOf(bytes))];
  const boundary = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type ?? "");
  if (kind === "multipart/form-data" && boundary) return decodeParts(bytes, boundary[1] ?? boundary[2]);
  const kinds = '"multipart/form-data" or "application/x-www-form-urlencoded"';
  throw new TypeError(`Content-Type was not one of ${kinds}.`);
}

function decodeParts(bytes, boundary) {
  const mark = bytesOf(`--${boundary}`);
  const fields = [];
  let start = indexOf(bytes, mark, 0, false);
  while (start !== NONE) {
    const from = start + mark.length;
    const next = indexOf(bytes, mark, from, false);
    if (next === NONE) break;
    fields.push(decodePart(bytes.subarray(from + 2, next - 2)));
    start = next;
  }
  return fields;
}

function decodePart(part) {
  const gap = indexOf(part, bytesOf("\r\n\r\n"), 0, false);
  if (gap === NONE) throw new TypeError("Failed to parse body as FormData.");
  const head = textOf(part.subarray(0, gap));
  const content = part.subarray(gap + 4);
  const read = (pattern) => pattern.exec(head)?.[1];
  const name = unescapeName(read(/[;\s]name="([^"]*)"/i) ?? "");
  const filename = read(/filename="([^"]*)"/i);
  if (filename === undefined) return [name, textOf(content)];
  const type = read(/content-type:[ \t]*([^\r\n]*)/i) ?? "text/plain";
  return [name, new File([content], unescapeName(filename), { type })];
}

const unescapeName = (name) => name.replaceAll("%0A", "\n").replaceAll("%0D", "\r").replaceAll("%22", '"');
