// `Headers`: names and values of HTTP, kept and iterated as browsers do.

import { asInterface, hiddenMethod } from "./interface.js";
import { invalidCall, needArguments } from "./web_errors.js";
import { showFields } from "./web_inspect.js";

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const UNALLOWED_IN_VALUE = /[\0\r\n]/;
const BEYOND_BYTES = /[^\0-\xff]/;
const COOKIE = "set-cookie";

/** Throws for text that has characters beyond one byte. */
export function checkBytes(text) {
  const index = text.search(BEYOND_BYTES);
  if (index < 0) return;
  const where = `the character at index ${index} has a value of ${text.charCodeAt(index)}`;
  throw new TypeError(`Cannot convert argument to a ByteString because ${where} which is greater than 255.`);
}

/** Cuts spaces and line ends from both sides. */
function trim(value) {
  const isSpace = (char) => char === " " || char === "\t" || char === "\r" || char === "\n";
  let start = 0;
  let end = value.length;
  while (start < end && isSpace(value[start])) start += 1;
  while (end > start && isSpace(value[end - 1])) end -= 1;
  return value.slice(start, end);
}

function readName(name, method) {
  const text = `${name}`;
  if (!NAME.test(text)) throw new TypeError(`${method}: "${text}" is an invalid header name.`);
  return text.toLowerCase();
}

function readValue(value, method) {
  const text = `${value}`;
  checkBytes(text);
  const trimmed = trim(text);
  if (UNALLOWED_IN_VALUE.test(trimmed))
    throw new TypeError(`${method}: "${trimmed}" is an invalid header value.`);
  return trimmed;
}

/** The pairs of what the constructor was given: a list of pairs, headers, or an object. */
function* pairsOf(init) {
  if (init === null || typeof init !== "object") {
    const types = "sequence<sequence<ByteString>>, record<ByteString, ByteString>";
    throw new TypeError(`Headers constructor: Argument 1 could not be converted to one of: ${types}.`);
  }
  if (typeof init[Symbol.iterator] !== "function") {
    for (const name of Reflect.ownKeys(init)) {
      if (typeof name === "symbol") {
        throw new TypeError(
          "Headers contructor: init is a symbol, which cannot be converted to a DOMString.",
        );
      }
      if (Object.getOwnPropertyDescriptor(init, name)?.enumerable) yield [name, init[name]];
    }
    return;
  }
  let index = 0;
  for (const item of init) {
    if (typeof item?.[Symbol.iterator] !== "function" || typeof item === "string") {
      throw new TypeError(`Headers contructor: init[${index}] (${String(item)}) is not iterable.`);
    }
    const pair = [...item];
    if (pair.length !== 2) {
      throw new TypeError(
        `Headers constructor: expected name/value pair to be length 2, found ${pair.length}.`,
      );
    }
    yield pair;
    index += 1;
  }
}

/** The names and values as they were given, for `util.inspect`. */
let shownOf;

export class Headers {
  /** By name in lower case: the name as it was given first, and the values joined by commas. */
  #fields = new Map();
  #cookies = [];

  constructor(init = undefined) {
    if (init === undefined) return;
    for (const [name, value] of pairsOf(init)) this.append(name, value);
  }

  static {
    shownOf = (headers) =>
      Object.fromEntries(Array.from(headers.#fields.values(), ({ name, value }) => [name, value]));
  }

  static #from(value) {
    if (value === null || typeof value !== "object" || !(#fields in value)) throw invalidCall();
    return value;
  }

  append(name, value) {
    const headers = Headers.#from(this);
    needArguments("Headers.append", arguments.length, 2);
    const key = readName(name, "Headers.append");
    const text = readValue(value, "Headers.append");
    if (key === COOKIE) headers.#cookies.push(text);
    const old = headers.#fields.get(key);
    const separator = key === "cookie" ? "; " : ", ";
    if (old === undefined) headers.#fields.set(key, { name: `${name}`, value: text });
    else old.value += separator + text;
  }

  delete(name) {
    const headers = Headers.#from(this);
    needArguments("Headers.delete", arguments.length, 1);
    const key = readName(name, "Headers.delete");
    headers.#fields.delete(key);
    if (key === COOKIE) headers.#cookies = [];
  }

  get(name) {
    const headers = Headers.#from(this);
    needArguments("Headers.get", arguments.length, 1);
    return headers.#fields.get(readName(name, "Headers.get"))?.value ?? null;
  }

  has(name) {
    const headers = Headers.#from(this);
    needArguments("Headers.has", arguments.length, 1);
    return headers.#fields.has(readName(name, "Headers.has"));
  }

  set(name, value) {
    const headers = Headers.#from(this);
    needArguments("Headers.set", arguments.length, 2);
    const key = readName(name, "Headers.set");
    const text = readValue(value, "Headers.set");
    if (key === COOKIE) headers.#cookies = [text];
    headers.#fields.set(key, { name: `${name}`, value: text });
  }

  getSetCookie() {
    return Headers.#from(this).#cookies.slice();
  }

  /** All pairs, sorted by name; each cookie is a pair of its own. */
  #pairs() {
    const names = [...this.#fields.keys()].sort();
    return names.flatMap((name) => {
      if (name === COOKIE) return this.#cookies.map((cookie) => [name, cookie]);
      return [[name, this.#fields.get(name).value]];
    });
  }

  *keys() {
    for (const [name] of Headers.#from(this).#pairs()) yield name;
  }

  *values() {
    for (const [, value] of Headers.#from(this).#pairs()) yield value;
  }

  *entries() {
    yield* Headers.#from(this).#pairs();
  }

  forEach(callback, self = undefined) {
    const headers = Headers.#from(this);
    needArguments("Headers.forEach", arguments.length, 1);
    if (typeof callback !== "function") {
      throw new TypeError("Failed to execute 'forEach' on 'Headers': parameter 1 is not of type 'Function'.");
    }
    for (const [name, value] of headers.#pairs()) Reflect.apply(callback, self, [value, name, headers]);
  }
}

asInterface(Headers);
hiddenMethod(Headers, Symbol.iterator, Headers.prototype.entries);
showFields(Headers, shownOf);
