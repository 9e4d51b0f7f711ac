// A program's value as the host receives it: JSON, or an image.
import native from "codeyard:native";
import {
  append,
  arraySlice,
  mapSet,
  mapSize,
  regExpExec,
  setSize,
  stringSlice,
  typedArrayName,
} from "./primordials.js";

const { stringify } = JSON;
const { from: toArray, isArray } = Array;
const { isSafeInteger } = Number;
const { isView } = ArrayBuffer;
const { entries, fromEntries, keys } = Object;
const { toString: bigIntToString } = BigInt.prototype;
const { apply } = Reflect;
const [NumberOf, StringOf, MapOf, SetOf, ErrorOf, BytesOf] = [Number, String, Map, Set, Error, Uint8Array];

/** Maximum length of a text that may be an image. */
const MAX_SVG = 1_000_000;
const SVG = /^\s*(?:<\?xml[^>]*>\s*)?<svg[\s>]/;

/** Images of this run: type and data of each in turn. */
let shown = [];

export function begin() {
  shown = [];
}

/** Type and data of each image in turn. */
export function content() {
  return shown;
}

/** Shows an image to the user: bytes of PNG, JPEG, GIF or WebP, or the text of an SVG. */
export function show(value) {
  if (showBlocks(value)) return;
  const image = imageOf(value);
  if (image === undefined) {
    throw new TypeError("show takes the bytes of a PNG, JPEG, GIF or WebP image, an SVG text, or blocks of a tool's result");
  }
  take(image);
}

/** Shows the images among blocks of a tool's result; returns whether there were any. */
function showBlocks(value) {
  const blocks = isArray(value) ? value : [value];
  let some = false;
  for (let index = 0; index < blocks.length; index++) {
    const block = blocks[index];
    if (block?.type !== "image" || typeof block.data !== "string") continue;
    take({ mime: StringOf(block.mimeType), data: block.data });
    some = true;
  }
  return some;
}

function take({ mime, data }) {
  append(shown, mime);
  append(shown, data);
}

/** The text of a value as JSON; `undefined` if the program returned nothing or an image. */
export function convert(value) {
  if (value === undefined) return undefined;
  const image = imageOf(value);
  if (image !== undefined) {
    take(image);
    return undefined;
  }
  return stringify(value, replace);
}

/** Called with the value after its `toJSON`; before it, it is `this[key]`. */
function replace(key, converted) {
  const value = this[key];
  if (typeof value === "bigint") {
    const number = NumberOf(value);
    return isSafeInteger(number) ? number : apply(bigIntToString, value, []);
  }
  if (value === null || typeof value !== "object") return converted;
  if (value instanceof MapOf) return fromEntries(toArray(value, ([name, item]) => [StringOf(name), item]));
  if (value instanceof SetOf) return toArray(value);
  if (value instanceof ErrorOf) return { name: value.name, message: value.message };
  const kind = isView(value) ? typedArrayName(value) : undefined;
  if (kind === "Uint8Array") return native.decode(value, "base64", false);
  return kind === undefined ? converted : toArray(value);
}

function imageOf(value) {
  if (typeof value === "string") {
    const isSvg = value.length < MAX_SVG && regExpExec(SVG, stringSlice(value, 0, 1000)) !== null;
    return isSvg ? image("image/svg+xml", native.encode(value, "utf8")) : undefined;
  }
  const bytes = value instanceof ArrayBuffer ? new BytesOf(value) : value;
  if (!(bytes instanceof BytesOf)) return undefined;
  const mime = mimeOf(bytes);
  return mime === undefined ? undefined : image(mime, bytes);
}

function image(mime, bytes) {
  return { mime, data: native.decode(bytes, "base64", false) };
}

function mimeOf(bytes) {
  if (begins(bytes, 0, 0x89, 0x50, 0x4e, 0x47)) return "image/png";
  if (begins(bytes, 0, 0xff, 0xd8, 0xff)) return "image/jpeg";
  if (begins(bytes, 0, 0x47, 0x49, 0x46, 0x38)) return "image/gif";
  const isWebp = begins(bytes, 0, 0x52, 0x49, 0x46, 0x46) && begins(bytes, 8, 0x57, 0x45, 0x42, 0x50);
  return isWebp ? "image/webp" : undefined;
}

function begins(bytes, at, ...magic) {
  for (let index = 0; index < magic.length; index++) {
    if (bytes[at + index] !== magic[index]) return false;
  }
  return true;
}

/** A value that stays in the session: its kind, its size in words, and its beginning. */
export function beginning(value, bytes) {
  return { __proto__: null, kind: kindOf(value), size: `${extentOf(value)}, ${bytes} bytes of JSON`, sample: sampleOf(value, 0) };
}

function kindOf(value) {
  if (value === null) return "null";
  if (isArray(value)) return "Array";
  if (typeof value !== "object") return typeof value;
  const name = value.constructor?.name;
  return typeof name === "string" ? stringSlice(name, 0, 60) : "Object";
}

function extentOf(value) {
  if (typeof value === "string") return `${value.length} characters`;
  if (isArray(value)) return `${value.length} items`;
  if (value instanceof MapOf) return `${mapSize(value)} entries`;
  if (value instanceof SetOf) return `${setSize(value)} items`;
  return typeof value === "object" && value !== null ? `${keys(value).length} keys` : "1 value";
}

function sampleOf(value, depth) {
  if (typeof value === "string") {
    return value.length > 200 ? `${stringSlice(value, 0, 200)}… (${value.length} characters)` : value;
  }
  if (typeof value === "bigint") return apply(bigIntToString, value, []);
  if (value === null || typeof value !== "object") return value;
  if (depth > 3) return "…";
  if (value instanceof SetOf) return sampleOf(toArray(value), depth);
  if (value instanceof MapOf) return sampleOf(fromEntries(value), depth);
  if (isArray(value)) return toArray(arraySlice(value, 0, 3), (item) => sampleOf(item, depth + 1));
  const some = new MapOf();
  for (const [name, item] of arraySlice(entries(value), 0, 12)) {
    mapSet(some, stringSlice(name, 0, 200), sampleOf(item, depth + 1));
  }
  return fromEntries(some);
}
