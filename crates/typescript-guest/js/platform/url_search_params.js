// `URLSearchParams`: the names and values of a query, alone or as a live part of a URL.

import native from "codeyard:native";
import { checkFunction, missingArgs, withCode } from "./errors.js";
import { asInterface, hiddenMethod } from "./interface.js";
import { invalidThis } from "./node_error.js";

const INSPECT = Symbol.for("nodejs.util.inspect.custom");
const NAME = "URLSearchParams";
const { ownKeys } = Reflect;
const isEnumerable = Object.prototype.propertyIsEnumerable;

const toText = (value) => `${value}`.toWellFormed();

function invalidTuple() {
  return withCode(
    new TypeError("Each query pair must be an iterable [name, value] tuple"),
    "ERR_INVALID_TUPLE",
  );
}

/** Reads pairs from an iterable of iterables into one flat list. */
function pairsOfIterable(iterable) {
  if (typeof iterable[Symbol.iterator] !== "function") {
    throw withCode(new TypeError("Query pairs must be iterable"), "ERR_ARG_NOT_ITERABLE");
  }
  const list = [];
  for (const pair of iterable) {
    const isObject = (typeof pair === "object" && pair !== null) || typeof pair === "function";
    if (!isObject || typeof pair[Symbol.iterator] !== "function") throw invalidTuple();
    const items = [...pair];
    if (items.length !== 2) throw invalidTuple();
    list.push(toText(items[0]), toText(items[1]));
  }
  return list;
}

/** Reads the enumerable own properties of an object; names that become equal keep the last value. */
function pairsOfRecord(record) {
  const values = new Map();
  for (const key of ownKeys(record)) {
    if (Reflect.apply(isEnumerable, record, [key])) values.set(toText(key), toText(record[key]));
  }
  return [...values].flat();
}

function pairsOf(init) {
  if (init === undefined || init === null) return [];
  if (typeof init === "object" || typeof init === "function") {
    const method = init[Symbol.iterator];
    return method === undefined || method === null ? pairsOfRecord(init) : pairsOfIterable(init);
  }
  const text = toText(init);
  return native.formParse(text.startsWith("?") ? text.slice(1) : text);
}

/** Internal access for URLs and the iterators; filled by the class. */
const internals = {};

/** Names and values in turn lie in one flat list: an append costs no object. */
export class URLSearchParams {
  #list;
  #changed = () => {};

  constructor(init = undefined) {
    this.#list = pairsOf(init);
  }

  static {
    internals.attach = (search, changed) => {
      const params = new URLSearchParams(search);
      params.#changed = changed;
      return params;
    };
    internals.reload = (params, search) => {
      params.#list = pairsOf(search);
    };
    internals.listOf = (params) => {
      if (typeof params !== "object" || params === null || !(#list in params)) throw invalidThis(NAME);
      return params.#list;
    };
  }

  get size() {
    return internals.listOf(this).length / 2;
  }

  append(name, value) {
    const list = internals.listOf(this);
    if (arguments.length < 2) throw missingArgs("name", "value");
    list.push(toText(name), toText(value));
    this.#changed();
  }

  delete(name, value = undefined) {
    const list = internals.listOf(this);
    if (arguments.length < 1) throw missingArgs("name");
    const wanted = toText(name);
    const only = value === undefined ? undefined : toText(value);
    this.#list = [];
    for (let index = 0; index < list.length; index += 2) {
      if (list[index] === wanted && (only === undefined || list[index + 1] === only)) continue;
      this.#list.push(list[index], list[index + 1]);
    }
    this.#changed();
  }

  get(name) {
    const list = internals.listOf(this);
    if (arguments.length < 1) throw missingArgs("name");
    const wanted = toText(name);
    for (let index = 0; index < list.length; index += 2) {
      if (list[index] === wanted) return list[index + 1];
    }
    return null;
  }

  getAll(name) {
    const list = internals.listOf(this);
    if (arguments.length < 1) throw missingArgs("name");
    const wanted = toText(name);
    return list.filter((_, index) => index % 2 === 1 && list[index - 1] === wanted);
  }

  has(name, value = undefined) {
    const list = internals.listOf(this);
    if (arguments.length < 1) throw missingArgs("name");
    const wanted = toText(name);
    const only = value === undefined ? undefined : toText(value);
    for (let index = 0; index < list.length; index += 2) {
      if (list[index] === wanted && (only === undefined || list[index + 1] === only)) return true;
    }
    return false;
  }

  set(name, value) {
    const list = internals.listOf(this);
    if (arguments.length < 2) throw missingArgs("name", "value");
    const wanted = toText(name);
    const replacement = toText(value);
    this.#list = [];
    let placed = false;
    for (let index = 0; index < list.length; index += 2) {
      if (list[index] !== wanted) this.#list.push(list[index], list[index + 1]);
      else if (!placed) this.#list.push(wanted, replacement);
      placed ||= list[index] === wanted;
    }
    if (!placed) this.#list.push(wanted, replacement);
    this.#changed();
  }

  sort() {
    const list = internals.listOf(this);
    const pairs = [];
    for (let index = 0; index < list.length; index += 2) pairs.push([list[index], list[index + 1]]);
    pairs.sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
    this.#list = pairs.flat();
    this.#changed();
  }

  entries() {
    internals.listOf(this);
    return new ParamsIterator(this, (name, value) => [name, value]);
  }

  forEach(callback, thisArg = undefined) {
    internals.listOf(this);
    checkFunction(callback, "callback");
    for (let index = 0; index < this.#list.length; index += 2) {
      Reflect.apply(callback, thisArg, [this.#list[index + 1], this.#list[index], this]);
    }
  }

  keys() {
    internals.listOf(this);
    return new ParamsIterator(this, (name) => name);
  }

  values() {
    internals.listOf(this);
    return new ParamsIterator(this, (_, value) => value);
  }

  toString() {
    return native.formSerialize(internals.listOf(this));
  }

  [INSPECT](depth, options, inspect) {
    if (typeof depth === "number" && depth < 0) return "[Object]";
    const list = internals.listOf(this);
    const shown = [];
    for (let index = 0; index < list.length; index += 2) {
      shown.push(`${inspect(list[index], options)} => ${inspect(list[index + 1], options)}`);
    }
    if (!shown.length) return `${NAME} {}`;
    const isLong = shown.join(", ").length > (options?.breakLength ?? 80);
    return isLong ? `${NAME} {\n  ${shown.join(",\n  ")} }` : `${NAME} { ${shown.join(", ")} }`;
  }
}

/** Walks the list by position, so that it sees changes made meanwhile. */
class ParamsIterator {
  #params;
  #pick;
  #index = 0;

  constructor(params, pick) {
    this.#params = params;
    this.#pick = pick;
  }

  next() {
    if (typeof this !== "object" || this === null || !(#params in this)) {
      throw invalidThis("URLSearchParamsIterator");
    }
    const list = internals.listOf(this.#params);
    const index = this.#index;
    if (index >= list.length) return { value: undefined, done: true };
    this.#index += 2;
    return { value: this.#pick(list[index], list[index + 1]), done: false };
  }

  [INSPECT](_, options, inspect) {
    const list = internals.listOf(this.#params);
    const shown = [];
    for (let index = this.#index; index < list.length; index += 2) {
      shown.push(inspect(this.#pick(list[index], list[index + 1]), options));
    }
    return `${NAME} Iterator { ${shown.join(", ")} }`;
  }
}

asInterface(URLSearchParams);
asInterface(ParamsIterator, "URLSearchParams Iterator");
hiddenMethod(URLSearchParams, Symbol.iterator, URLSearchParams.prototype.entries);
Object.setPrototypeOf(ParamsIterator.prototype, Object.getPrototypeOf(Object.getPrototypeOf([].values())));

/** Makes the parameters of a URL; `changed` runs after each change by the program. */
export const attachParams = internals.attach;
/** Reads the parameters of a URL anew. */
export const reloadParams = internals.reload;
