// Identifies an object's class by its internal state, not by its properties and prototype.

import native from "codeyard:native";
import {
  bufferByteLength,
  hasOwn,
  isPrototypeOf,
  mapGet,
  mapSize,
  objectToString,
  setHas,
  setSize,
  sharedByteLength,
  typedArrayName,
  uncurry,
} from "./primordials.js";

const { isArray } = Array;
const { isView } = ArrayBuffer;
const { getOwnPropertyDescriptor, getPrototypeOf, keys } = Object;
const { toStringTag } = Symbol;
const { promiseState } = native;
const { isError } = Error;
const regExpPrototype = RegExp.prototype;
const errorPrototype = Error.prototype;
const sourceOf = uncurry(getOwnPropertyDescriptor(regExpPrototype, "source").get);
const PROBE = {};

/** Makes a test: whether the method accepts the value as its `this`. */
function accepts(method, input) {
  return (value) => {
    try {
      method(value, input);
      return true;
    } catch {
      return false;
    }
  };
}

const holds = (Class) => accepts(uncurry(Class.prototype.valueOf));
const hasSource = accepts(sourceOf);

function isPromise(value) {
  try {
    return promiseState(value) !== undefined;
  } catch {
    return false;
  }
}

/** Older engines lack `Error.isError`: the tag decides, or a stack if the program set the tag. */
function isEngineError(value) {
  if (isError !== undefined) return isError(value);
  if (value[toStringTag] === undefined) return objectToString(value) === "[object Error]";
  return (
    value[toStringTag] !== "DOMException" && isPrototypeOf(errorPrototype, value) && hasOwn(value, "stack")
  );
}

const TESTS = new Map([
  ["Map", accepts(mapSize)],
  ["Set", accepts(setSize)],
  ["Promise", isPromise],
  ["Date", accepts(uncurry(Date.prototype.getTime))],
  ["RegExp", (value) => value !== regExpPrototype && hasSource(value)],
  ["Error", isEngineError],
  ["ArrayBuffer", accepts(bufferByteLength)],
  ["SharedArrayBuffer", accepts(sharedByteLength)],
  ["WeakMap", accepts(uncurry(WeakMap.prototype.has), PROBE)],
  ["WeakSet", accepts(uncurry(WeakSet.prototype.has), PROBE)],
  ["WeakRef", accepts(uncurry(WeakRef.prototype.deref))],
  ["FinalizationRegistry", accepts(uncurry(FinalizationRegistry.prototype.unregister), PROBE)],
  ["Number", holds(Number)],
  ["String", holds(String)],
  ["Boolean", holds(Boolean)],
  ["Symbol", holds(Symbol)],
  ["BigInt", holds(BigInt)],
]);
const TESTED = [...TESTS.keys()];

const FUNCTIONS = [
  [getPrototypeOf(async () => {}), "AsyncFunction"],
  [getPrototypeOf(function* () {}), "GeneratorFunction"],
  [getPrototypeOf(async function* () {}), "AsyncGeneratorFunction"],
  [Function.prototype, "Function"],
];
const ITERATORS = [
  [getPrototypeOf(new Map().keys()), "Map Iterator"],
  [getPrototypeOf(new Set().keys()), "Set Iterator"],
  [getPrototypeOf(function* () {}).prototype, "Generator"],
  [getPrototypeOf(async function* () {}).prototype, "AsyncGenerator"],
];
const CLASSES = TESTED.map((name) => [globalThis[name].prototype, name]);

/** The probable class of an object by its prototype. */
const LIKELY = new Map([...FUNCTIONS, ...ITERATORS, ...CLASSES]);
const FUNCTION_NAMES = new Set(FUNCTIONS.map(([, name]) => name));
const ITERATOR_NAMES = new Set(ITERATORS.map(([, name]) => name));

/** Whether the object has the internal state of the class, such as a Map's entries. */
export function isBrand(value, name) {
  return mapGet(TESTS, name)(value);
}

/**
 * Tries every class; for objects whose prototype tells nothing. A plain object with properties is by far the
 * most common of them, and the tests are slow, so that it is taken for what its tag says.
 */
function searchBrand(value) {
  if (keys(value).length > 0 && objectToString(value) === "[object Object]") return "Object";
  for (let index = 0; index < TESTED.length; index++) {
    if (isBrand(value, TESTED[index])) return TESTED[index];
  }
  return "Object";
}

function functionBrand(value) {
  for (let prototype = getPrototypeOf(value); prototype !== null; prototype = getPrototypeOf(prototype)) {
    const name = mapGet(LIKELY, prototype);
    if (setHas(FUNCTION_NAMES, name)) return name;
  }
  return "Function";
}

/**
 * The class of a value that is an object or a function and no proxy: "Map", "Uint8Array", "Map Iterator",
 * "AsyncFunction"; "Object" for all that the engine does not tell apart.
 */
export function brandOf(value) {
  if (typeof value === "function") return functionBrand(value);
  if (isArray(value)) return "Array";
  if (isView(value)) return typedArrayName(value) ?? "DataView";
  let prototype = getPrototypeOf(value);
  if (prototype === Object.prototype) return "Object";
  for (; prototype !== null; prototype = getPrototypeOf(prototype)) {
    if (prototype === Object.prototype) return "Object";
    const name = mapGet(LIKELY, prototype);
    if (name === undefined) continue;
    if (setHas(ITERATOR_NAMES, name)) return name;
    return mapGet(TESTS, name)?.(value) ? name : searchBrand(value);
  }
  return searchBrand(value);
}

/** The object that a function finds as its `arguments`. */
export function isArguments(value) {
  return value[toStringTag] === undefined && objectToString(value) === "[object Arguments]";
}

/** A module's namespace has a tag that no program can give to another object. */
export function isNamespace(value) {
  if (getPrototypeOf(value) !== null) return false;
  const tag = getOwnPropertyDescriptor(value, toStringTag);
  return tag !== undefined && tag.value === "Module" && !tag.writable && !tag.configurable;
}
