// The class `URL`: the parsing is native, the parts are read and written here.

import native from "codeyard:native";
import { missingArgs } from "./errors.js";
import { asInterface, hiddenMethod } from "./interface.js";
import { attachParams, reloadParams } from "./url_search_params.js";

const INSPECT = Symbol.for("nodejs.util.inspect.custom");
const SHOWN = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "searchParams",
  "hash",
];

const toText = (value) => `${value}`.toWellFormed();

/** Unlike other coded errors, this one does not show its code when it is written as text. */
function invalidUrl(input, base) {
  const error = Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL", input });
  if (base !== undefined) error.base = base;
  return error;
}

/** Parses an input against an optional base; `undefined` when one of them is invalid. */
function parse(input, base) {
  return base === undefined ? native.urlParse(input) : native.urlParse(input, base);
}

export class URL {
  #parts;
  #params;
  /** Whether the program changed the parameters since the parts were computed. */
  #stale = false;

  constructor(input, base = undefined) {
    if (arguments.length === 0) throw missingArgs("url");
    const text = toText(input);
    const baseText = base === undefined ? undefined : toText(base);
    const parts = parse(text, baseText);
    if (parts === undefined) throw invalidUrl(text, baseText);
    this.#parts = parts;
  }

  static canParse(url, base = undefined) {
    if (arguments.length === 0) throw missingArgs("url");
    return parse(toText(url), base === undefined ? undefined : toText(base)) !== undefined;
  }

  static parse(url, base = undefined) {
    if (arguments.length === 0) throw missingArgs("url");
    return URL.canParse(url, base) ? new URL(url, base) : null;
  }

  /** The parts of this URL, after changes that its parameters received. */
  get #current() {
    if (this.#stale) {
      this.#stale = false;
      const query = this.#params.toString();
      this.#parts = native.urlSet(this.#parts.href, "search", query && `?${query}`);
    }
    return this.#parts;
  }

  #set(part, value) {
    this.#parts = native.urlSet(this.#current.href, part, toText(value));
  }

  static #check(url) {
    if (typeof url !== "object" || url === null || !(#parts in url)) {
      throw new TypeError("Receiver must be an instance of class URL");
    }
  }

  toString() {
    URL.#check(this);
    return this.#current.href;
  }

  toJSON() {
    URL.#check(this);
    return this.#current.href;
  }

  get href() {
    URL.#check(this);
    return this.#current.href;
  }

  set href(value) {
    URL.#check(this);
    const text = toText(value);
    const parts = native.urlSet(this.#current.href, "href", text);
    if (parts === undefined) throw invalidUrl(text);
    this.#parts = parts;
    if (this.#params) reloadParams(this.#params, parts.search);
  }

  get search() {
    URL.#check(this);
    return this.#current.search;
  }

  set search(value) {
    URL.#check(this);
    this.#set("search", value);
    if (this.#params) reloadParams(this.#params, this.#parts.search);
  }

  get searchParams() {
    URL.#check(this);
    this.#params ??= attachParams(this.#parts.search, () => {
      this.#stale = true;
    });
    return this.#params;
  }

  /** Adds the accessors of the parts that have nothing of their own; `origin` cannot be written. */
  static {
    for (const part of SHOWN) {
      if (Object.hasOwn(URL.prototype, part)) continue;
      const accessors = {
        get [part]() {
          URL.#check(this);
          return this.#current[part];
        },
        set [part](value) {
          URL.#check(this);
          this.#set(part, value);
        },
      };
      const { get, set } = Object.getOwnPropertyDescriptor(accessors, part);
      const attributes = { get, set: part === "origin" ? undefined : set, configurable: true };
      Object.defineProperty(URL.prototype, part, attributes);
    }
  }
}

/** Shows the parts as fields of an object, as Node does. */
function inspectUrl(depth, options, inspect) {
  if (typeof depth === "number" && depth < 0) return this;
  const shown = Object.fromEntries(SHOWN.map((part) => [part, this[part]]));
  return `${this.constructor?.name ?? "URL"} ${inspect(shown, options)}`;
}

asInterface(URL);
hiddenMethod(URL, INSPECT, inspectUrl);
