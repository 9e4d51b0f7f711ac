// `node:querystring`: reads and writes the queries of addresses as plain objects.

import native from "codeyard:native";
import { withCode } from "./errors.js";

const { isArray } = Array;
const { create, keys } = Object;
const { isFinite } = Number;
const { decode: decodeBytes, encode: encodeBytes } = native;
const MOST_KEYS = 1000;
const FIRST_EXPONENTIAL = 1e21;
const ESCAPED = /%[0-9a-fA-F]{2}/;
const ALL_ESCAPED = /%[0-9a-fA-F]{2}/g;

const charOf = (escaped) => String.fromCharCode(Number(`0x${escaped.slice(1)}`));

/** Decodes escapes, and leaves other text unchanged; the bytes need not be UTF-8. */
function unescapeBytes(text, decodesSpaces) {
  const spaced = decodesSpaces ? text.replaceAll("+", " ") : text;
  return encodeBytes(spaced.replace(ALL_ESCAPED, charOf), "latin1");
}

export function unescapeBuffer(text, decodesSpaces) {
  const bytes = unescapeBytes(text, decodesSpaces);
  return globalThis.Buffer?.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) ?? bytes;
}

export function unescape(text, decodesSpaces) {
  try {
    return decodeURIComponent(text);
  } catch {
    return decodeBytes(unescapeBytes(`${text}`, decodesSpaces), "utf8", false);
  }
}

export function escape(value) {
  try {
    return encodeURIComponent(
      typeof value === "string" || typeof value === "object" ? String(value) : value + "",
    );
  } catch (error) {
    if (error instanceof URIError) throw withCode(new URIError("URI malformed"), "ERR_INVALID_URI");
    throw error;
  }
}

/** The text of a text, finite number, bigint or boolean; empty for other values. */
function primitiveText(value) {
  switch (typeof value) {
    case "string":
    case "bigint":
    case "boolean":
      return `${value}`;
    case "number":
      return isFinite(value) ? `${value}` : "";
    default:
      return "";
  }
}

/** Only texts and long numbers can need escapes. */
function escapePrimitive(value) {
  if (typeof value === "string") return value === "" ? "" : escape(value);
  const text = primitiveText(value);
  return typeof value === "number" && Math.abs(value) >= FIRST_EXPONENTIAL ? escape(text) : text;
}

/** Writes `name=value` pairs; an array gives its name once for each item. */
export function stringify(object, separator, equals, options) {
  if (object === null || typeof object !== "object") return "";
  const custom = options?.encodeURIComponent;
  const encode = typeof custom === "function" ? custom : querystring.escape;
  const convert = encode === escape ? escapePrimitive : (value) => encode(primitiveText(value));
  const pairs = [];
  for (const name of keys(object)) {
    const value = object[name];
    const start = convert(name) + (equals || "=");
    for (const item of isArray(value) ? value : [value]) pairs.push(start + convert(item));
  }
  return pairs.join(separator || "&");
}

/** Makes the function that decodes names and values. */
function makeDecoder(options) {
  const custom = options?.decodeURIComponent;
  const decode = typeof custom === "function" ? custom : querystring.unescape;
  if (decode === unescape) {
    return (text) => {
      const spaced = text.replaceAll("+", " ");
      return ESCAPED.test(spaced) ? unescape(spaced) : spaced;
    };
  }
  return (text) => {
    if (text === "") return "";
    const spaced = text.replaceAll("+", "%20");
    try {
      return decode(spaced);
    } catch {
      return querystring.unescape(spaced, true);
    }
  };
}

function add(result, name, value) {
  const present = result[name];
  if (present === undefined) result[name] = value;
  else if (isArray(present)) present.push(value);
  else result[name] = [present, value];
}

/** Reads pairs into an object without prototype; a name that comes again gets an array. */
export function parse(text, separator, equals, options) {
  const result = create(null);
  if (typeof text !== "string" || text === "") return result;
  const mark = String(equals || "=");
  const most = typeof options?.maxKeys === "number" ? options.maxKeys : MOST_KEYS;
  const decode = makeDecoder(options);
  for (const pair of text.split(String(separator || "&"), most > 0 ? most : undefined)) {
    if (pair === "") continue;
    const place = pair.indexOf(mark);
    const name = place === -1 ? pair : pair.slice(0, place);
    const value = place === -1 ? "" : pair.slice(place + mark.length);
    add(result, decode(name), decode(value));
  }
  return result;
}

export { parse as decode, stringify as encode };

const querystring = {
  unescapeBuffer,
  unescape,
  escape,
  stringify,
  encode: stringify,
  parse,
  decode: parse,
};

export default querystring;
