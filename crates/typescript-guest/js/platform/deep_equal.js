// Compares two values with all that they contain, as `util.isDeepStrictEqual` and `node:assert` do.

import native from "codeyard:native";
import { brandOf } from "./brands.js";
import { keysBesideItems, keysOf } from "./inspect_properties.js";
import {
  append,
  hasOwn,
  isEnumerable,
  mapDelete,
  mapGet,
  mapHas,
  mapSet,
  mapSize,
  objectToString,
  setHas,
  setSize,
  typedArrayName,
  uncurry,
} from "./primordials.js";
import { isProxy } from "./types.js";

const { isArray } = Array;
const { isView } = ArrayBuffer;
const { getPrototypeOf, is, keys } = Object;
const { compare } = native;
const isNaN = Number.isNaN;
const dateTime = uncurry(Date.prototype.getTime);
const unbox = new Map(
  [Number, String, Boolean, BigInt, Symbol].map((Class) => [Class.name, uncurry(Class.prototype.valueOf)]),
);
/** Properties that equal errors share, even if hidden. */
const ERROR_PROPERTIES = ["message", "name", "cause", "errors"];

const isObject = (value) => typeof value === "object" && value !== null;

/** The kind of an object, by which it is compared. A proxy counts as its visible object. */
function kindOf(value) {
  if (isProxy(value)) return isArray(value) ? "Array" : "Object";
  const brand = brandOf(value);
  return brand === "Object" && value instanceof Error ? "Error" : brand;
}

function bytesOf(view) {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/** One comparison: strict (`===`, prototypes, symbols) or loose (`==`). */
class DeepComparison {
  #isStrict;
  /** Each object of the first value that is being compared, with the objects that it is compared with. */
  #present = new Map();

  constructor(isStrict) {
    this.#isStrict = isStrict;
  }

  equal(a, b) {
    if (a === b) return a !== 0 || !this.#isStrict || is(a, b);
    if (!isObject(a) || !isObject(b)) return this.#equalPrimitives(a, b);
    if (this.#isStrict && getPrototypeOf(a) !== getPrototypeOf(b)) return false;
    if (objectToString(a) !== objectToString(b)) return false;
    const kind = kindOf(a);
    return kind === kindOf(b) && this.#equalState(a, b, kind) && this.#equalContents(a, b, kind);
  }

  #equalPrimitives(a, b) {
    if (this.#isStrict) return typeof a === "number" && isNaN(a) && isNaN(b);
    if (isObject(a) || isObject(b)) return false;
    return a == b || (isNaN(a) && isNaN(b));
  }

  /** Compares internal state that cannot refer back. */
  #equalState(a, b, kind) {
    switch (kind) {
      case "Array":
        return a.length === b.length;
      case "Date":
        return dateTime(a) === dateTime(b);
      case "RegExp":
        return a.source === b.source && a.flags === b.flags && a.lastIndex === b.lastIndex;
      case "Map":
        return mapSize(a) === mapSize(b);
      case "Set":
        return setSize(a) === setSize(b);
      case "ArrayBuffer":
      case "SharedArrayBuffer":
        return compare(new Uint8Array(a), new Uint8Array(b)) === 0;
      case "Number":
      case "String":
      case "Boolean":
      case "BigInt":
      case "Symbol":
        return is(mapGet(unbox, kind)(a), mapGet(unbox, kind)(b));
      default:
        return isView(a) ? this.#equalViews(a, b) : equalAddresses(a, b);
    }
  }

  #equalViews(a, b) {
    const name = typedArrayName(a);
    if (a.byteLength !== b.byteLength) return false;
    if (this.#isStrict || (name !== "Float32Array" && name !== "Float64Array")) {
      return compare(bytesOf(a), bytesOf(b)) === 0;
    }
    for (let index = 0; index < a.length; index++) {
      if (a[index] !== b[index]) return false;
    }
    return true;
  }

  /** Compares properties and contents; objects that are being compared already count as equal. */
  #equalContents(a, b, kind) {
    const partners = mapGet(this.#present, a);
    if (partners === undefined) mapSet(this.#present, a, [b]);
    else if (partners.includes(b)) return true;
    else append(partners, b);
    const result = this.#compareContents(a, b, kind);
    if (partners === undefined) mapDelete(this.#present, a);
    else partners.length -= 1;
    return result;
  }

  #compareContents(a, b, kind) {
    if (kind === "Error" && !this.#equalErrors(a, b)) return false;
    if (!this.#equalProperties(a, b, this.#keys(a, kind), this.#keys(b, kind))) return false;
    if (kind === "Array") return this.#equalItems(a, b);
    if (kind === "Set") return this.#equalSets(a, b);
    return kind !== "Map" || this.#equalMaps(a, b);
  }

  /** Keys beside the items; only strict comparison looks at symbols. */
  #keys(value, kind) {
    let all;
    if (kind === "Array") all = keysBesideItems(value, value.length, false, Infinity);
    else all = isView(value) ? keysBesideItems(value, value.length ?? 0, false) : keysOf(value, false);
    return this.#isStrict ? all : all.filter((key) => typeof key === "string");
  }

  #equalErrors(a, b) {
    for (const key of ERROR_PROPERTIES) {
      const isShown = isEnumerable(a, key);
      if (isShown !== isEnumerable(b, key)) return false;
      if (!isShown && !this.equal(a[key], b[key])) return false;
    }
    return true;
  }

  #equalProperties(a, b, keysOfA, keysOfB) {
    if (keysOfA.length !== keysOfB.length) return false;
    for (const key of keysOfA) {
      if (!isEnumerable(b, key)) return false;
    }
    for (const key of keysOfA) {
      if (!this.equal(a[key], b[key])) return false;
    }
    return true;
  }

  #equalItems(a, b) {
    for (let index = 0; index < a.length; index++) {
      if (!hasOwn(a, index)) return !hasOwn(b, index) && this.#equalSparse(a, b);
      if (!hasOwn(b, index) || !this.equal(a[index], b[index])) return false;
    }
    return true;
  }

  #equalSparse(a, b) {
    const names = keys(a);
    return (
      names.length === keys(b).length &&
      names.every((name) => hasOwn(b, name) && this.equal(a[name], b[name]))
    );
  }

  /** Whether a primitive that the other collection lacks may still equal something in it. */
  #mayMatch(primitive) {
    if (this.#isStrict || typeof primitive === "symbol") return false;
    return primitive === undefined || !isNaN(Number(primitive));
  }

  #equalSets(a, b) {
    const open = new Set();
    for (const item of a) {
      if (setHas(b, item)) continue;
      if (!isObject(item) && !this.#mayMatch(item)) return false;
      open.add(item);
    }
    for (const item of b) {
      if (setHas(a, item)) continue;
      if (this.#isStrict && !isObject(item)) return false;
      if (!this.#takeMatch(open, (candidate) => this.equal(candidate, item))) return false;
    }
    return open.size === 0;
  }

  #equalMaps(a, b) {
    const open = new Set();
    for (const [key, item] of a) {
      if (isObject(key)) open.add(key);
      else if (!mapHas(b, key) || !this.equal(item, mapGet(b, key))) {
        if (!this.#mayMatch(key)) return false;
        open.add(key);
      }
    }
    for (const [key, item] of b) {
      const isSettled = !isObject(key) && mapHas(a, key) && !open.has(key);
      if (isSettled) continue;
      if (this.#isStrict && !isObject(key)) return false;
      const matches = (candidate) => this.equal(candidate, key) && this.equal(mapGet(a, candidate), item);
      if (!this.#takeMatch(open, matches)) return false;
    }
    return open.size === 0;
  }

  /** Removes the first candidate that matches; whether there was one. */
  #takeMatch(candidates, matches) {
    for (const candidate of candidates) {
      if (matches(candidate)) {
        candidates.delete(candidate);
        return true;
      }
    }
    return false;
  }
}

/** Addresses keep their state in private fields. */
function equalAddresses(a, b) {
  const { URL } = globalThis;
  const isAddress = (value) => typeof URL === "function" && value instanceof URL;
  return !isAddress(a) || !isAddress(b) || a.href === b.href;
}

export const isDeepStrictEqual = (a, b) => new DeepComparison(true).equal(a, b);
export const isDeepEqual = (a, b) => new DeepComparison(false).equal(a, b);
