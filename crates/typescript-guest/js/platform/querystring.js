// `node:querystring`: queries as plain objects.

import native from "codeyard:native";
import { CodedURIError } from "./argument_errors.js";

/** Decodes percent escapes; those that are no UTF-8 become bytes of their own. */
export function unescape(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return unescapeLoosely(`${text}`);
  }
}

/** Decodes what can be decoded of a text with malformed escapes, one run of escapes at a time. */
function unescapeLoosely(text) {
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (run) => {
    const bytes = native.encode(run.replaceAll("%", ""), "hex");
    return native.decode(bytes, "utf8", false);
  });
}

export function escape(value) {
  const text = typeof value === "object" ? String(value) : `${value}`;
  if (!text.isWellFormed()) throw new CodedURIError("ERR_INVALID_URI", "URI malformed");
  return encodeURIComponent(text);
}

function primitiveText(value) {
  switch (typeof value) {
    case "string":
      return value;
    case "number":
      return Number.isFinite(value) ? `${value}` : "";
    case "bigint":
    case "boolean":
      return `${value}`;
    default:
      return "";
  }
}

export function stringify(object, separator, equals, options) {
  if (object === null || typeof object !== "object") return "";
  const encode = typeof options?.encodeURIComponent === "function" ? options.encodeURIComponent : escape;
  const between = equals || "=";
  const pairs = [];
  for (const [key, value] of Object.entries(object)) {
    const prefix = encode(primitiveText(key)) + between;
    const values = Array.isArray(value) ? value : [value];
    for (const item of values) pairs.push(prefix + encode(primitiveText(item)));
  }
  return pairs.join(separator || "&");
}

/** Adds a value under a name; a second one makes a list. */
function add(object, name, value) {
  const before = object[name];
  if (before === undefined) object[name] = value;
  else if (Array.isArray(before)) before.push(value);
  else object[name] = [before, value];
}

export function parse(text, separator, equals, options) {
  const object = Object.create(null);
  if (typeof text !== "string" || text.length === 0) return object;
  const between = `${equals || "="}`;
  const most = typeof options?.maxKeys === "number" ? options.maxKeys : 1000;
  const decode = decoder(options?.decodeURIComponent);
  const pairs = text.split(`${separator || "&"}`).filter(Boolean);
  for (const pair of most > 0 ? pairs.slice(0, most) : pairs) {
    const index = pair.indexOf(between);
    const name = index < 0 ? pair : pair.slice(0, index);
    const value = index < 0 ? "" : pair.slice(index + between.length);
    add(object, decode(name), decode(value));
  }
  return object;
}

/** Decodes a name or a value with the program's function, and leniently when that throws. */
function decoder(custom) {
  const decode = typeof custom === "function" ? custom : unescape;
  return (part) => {
    const text = part.replaceAll("+", "%20");
    try {
      return decode(text);
    } catch {
      return unescape(text);
    }
  };
}

export { stringify as encode, parse as decode };
export default { parse, stringify, escape, unescape, encode: stringify, decode: parse };
