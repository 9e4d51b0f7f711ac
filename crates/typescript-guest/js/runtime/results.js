// A program's value as the host receives it: JSON, or an image.
import native from "codeyard:native";

const { stringify } = JSON;
const { isArray } = Array;
const { isSafeInteger } = Number;

/** Images of this run, as parts of the frame that ends it. */
let shown = [];

export function begin() {
  shown = [];
}

export function content() {
  return shown;
}

/** Shows an image to the user: bytes of PNG, JPEG, GIF or WebP, or the text of an SVG. */
export function show(value) {
  const image = imageOf(value);
  if (image === undefined) throw new TypeError("show takes the bytes of a PNG, JPEG, GIF or WebP image, or an SVG text");
  shown.push(image);
}

/** The text of a value as JSON; `undefined` if the program returned nothing or an image. */
export function convert(value) {
  if (value === undefined) return undefined;
  const image = imageOf(value);
  if (image !== undefined) {
    shown.push(image);
    return undefined;
  }
  return stringify(value, replace);
}

/** Called with the value before its `toJSON`, as `this[key]`. */
function replace(key, converted) {
  const value = this[key];
  if (typeof value === "bigint") {
    const number = Number(value);
    return isSafeInteger(number) ? number : value.toString();
  }
  if (value === null || typeof value !== "object") return converted;
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, item]) => [String(name), item]));
  if (value instanceof Set) return [...value];
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return value instanceof Uint8Array ? native.decode(value, "base64", false) : [...value];
  }
  return converted;
}

function imageOf(value) {
  if (typeof value === "string") {
    const isSvg = value.length < 1_000_000 && /^\s*(<\?xml[^>]*>\s*)?<svg[\s>]/.test(value.slice(0, 1000));
    return isSvg ? image("image/svg+xml", native.encode(value, "utf8")) : undefined;
  }
  const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : value;
  if (!(bytes instanceof Uint8Array)) return undefined;
  const mime = mimeOf(bytes);
  return mime === undefined ? undefined : image(mime, bytes);
}

function image(mime, bytes) {
  return { type: "image", mime, data: native.decode(bytes, "base64", false) };
}

const MAGIC = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
];

function mimeOf(bytes) {
  const starts = (magic, at = 0) => magic.every((byte, index) => bytes[at + index] === byte);
  const found = MAGIC.find(([, magic]) => starts(magic));
  if (found) return found[0];
  const isWebp = starts([0x52, 0x49, 0x46, 0x46]) && starts([0x57, 0x45, 0x42, 0x50], 8);
  return isWebp ? "image/webp" : undefined;
}

/** A value that stays in the session: its kind, its size in words, and its beginning. */
export function beginning(value, bytes) {
  return { kind: kindOf(value), size: `${extentOf(value)}, ${bytes} bytes of JSON`, sample: sampleOf(value) };
}

function kindOf(value) {
  if (value === null) return "null";
  if (isArray(value)) return "Array";
  return typeof value === "object" ? (value.constructor?.name ?? "Object").slice(0, 60) : typeof value;
}

function extentOf(value) {
  if (typeof value === "string") return `${value.length} characters`;
  if (isArray(value)) return `${value.length} items`;
  return typeof value === "object" && value !== null ? `${Object.keys(value).length} keys` : "1 value";
}

function sampleOf(value, depth = 0) {
  if (typeof value === "string") return value.length > 200 ? `${value.slice(0, 200)}… (${value.length} characters)` : value;
  if (value === null || typeof value !== "object" || depth > 3) return typeof value === "object" ? "…" : value;
  if (isArray(value)) return value.slice(0, 3).map((item) => sampleOf(item, depth + 1));
  const some = Object.entries(value).slice(0, 12);
  return Object.fromEntries(some.map(([name, item]) => [name.slice(0, 200), sampleOf(item, depth + 1)]));
}
