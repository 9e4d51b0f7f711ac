// `structuredClone`: copies a value with all that it refers to, shared and circular references included.

import { brandOf, isArguments, isNamespace } from "./brands.js";
import { copyBuffer, copyView, detachAll, readTransferList } from "./clone_buffers.js";
import { cloneFailure } from "./clone_failure.js";
import { stackText } from "./error_stack.js";
import { withCode } from "./errors.js";
import { append, mapGet, mapSet, setAdd, uncurry } from "./primordials.js";
import { isProxy } from "./types.js";

const { defineProperty, getOwnPropertyDescriptor, keys } = Object;
const { isView } = ArrayBuffer;
const dateTime = uncurry(Date.prototype.getTime);
const mapForEach = uncurry(Map.prototype.forEach);
const setForEach = uncurry(Set.prototype.forEach);
const unboxers = new Map(
  [Number, String, Boolean, BigInt].map((Class) => [Class.name, uncurry(Class.prototype.valueOf)]),
);
const errorClasses = new Map(
  [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map((Class) => [
    Class.name,
    Class,
  ]),
);

/** Sets a property that is no accessor, even where the prototype has one of the name. */
function setOwn(object, name, value) {
  defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

function setHidden(error, name, value) {
  defineProperty(error, name, { value, writable: true, configurable: true });
}

/** An error of the same kind, with its message and stack; programs' own kinds become `Error`. */
function copyError(error) {
  const Class = mapGet(errorClasses, `${error.name}`) ?? Error;
  const message = getOwnPropertyDescriptor(error, "message");
  const copy = message !== undefined && "value" in message ? new Class(`${message.value}`) : new Class();
  setHidden(copy, "stack", error.stack === undefined ? undefined : stackText(error));
  return copy;
}

function copyArray({ length }) {
  const copy = [];
  copy.length = length;
  return copy;
}

/** The copy of an object, without contents; `copyOf` copies a buffer of a view. */
function makeCopy(value, brand, copyOf) {
  if (isView(value)) return copyView(value, brand, copyOf);
  switch (brand) {
    case "Object":
      return {};
    case "Array":
      return copyArray(value);
    case "Map":
      return new Map();
    case "Set":
      return new Set();
    case "Date":
      return new Date(dateTime(value));
    case "RegExp":
      return new RegExp(value.source, value.flags);
    case "Error":
      return copyError(value);
    case "ArrayBuffer":
      return copyBuffer(value);
    case "SharedArrayBuffer":
      return value;
    case "Number":
    case "String":
    case "Boolean":
    case "BigInt":
      return Object(mapGet(unboxers, brand)(value));
    default:
      throw cloneFailure(value);
  }
}

/**
 * What is left to copy of an object: `read` gives an item, `put` takes its copy. The items are read one by
 * one, as reading may run code of the program.
 */
function contentsOf(value, copy, brand) {
  switch (brand) {
    case "Object":
    case "Array":
      return propertiesOf(value, copy);
    case "Map":
      return entriesOf(value, copy);
    case "Set":
      return membersOf(value, copy);
    case "Error":
      return causeOf(value, copy);
    default:
      return undefined;
  }
}

function propertiesOf(value, copy) {
  const names = keys(value);
  return {
    next: 0,
    count: names.length,
    read: (index) => value[names[index]],
    put: (index, item) => setOwn(copy, names[index], item),
  };
}

function entriesOf(value, copy) {
  const flat = [];
  mapForEach(value, (item, key) => {
    append(flat, key);
    append(flat, item);
  });
  let key;
  const put = (index, item) => {
    if (index % 2 === 0) key = item;
    else mapSet(copy, key, item);
  };
  return { next: 0, count: flat.length, read: (index) => flat[index], put };
}

function membersOf(value, copy) {
  const members = [];
  setForEach(value, (item) => append(members, item));
  return {
    next: 0,
    count: members.length,
    read: (index) => members[index],
    put: (_, item) => setAdd(copy, item),
  };
}

function causeOf(error, copy) {
  const cause = getOwnPropertyDescriptor(error, "cause");
  if (cause === undefined || !("value" in cause)) return undefined;
  return { next: 0, count: 1, read: () => cause.value, put: (_, item) => setHidden(copy, "cause", item) };
}

/** Copies without recursion: unfinished objects are on a separate stack. */
function copyAll(value) {
  const copies = new Map();
  const unfinished = [];
  const begin = (item) => {
    if (typeof item === "symbol" || typeof item === "function") throw cloneFailure(item);
    if (typeof item !== "object" || item === null) return item;
    const known = mapGet(copies, item);
    if (known !== undefined) return known;
    if (item === globalThis || isProxy(item) || isNamespace(item) || isArguments(item))
      throw cloneFailure(item);
    const brand = brandOf(item);
    const copy = makeCopy(item, brand, begin);
    mapSet(copies, item, copy);
    const contents = contentsOf(item, copy, brand);
    if (contents !== undefined) append(unfinished, contents);
    return copy;
  };
  const result = begin(value);
  while (unfinished.length > 0) {
    const contents = unfinished[unfinished.length - 1];
    if (contents.next === contents.count) unfinished.length -= 1;
    else {
      const index = contents.next++;
      contents.put(index, begin(contents.read(index)));
    }
  }
  return result;
}

/** @param inputs the value; `{ transfer }` with the buffers that the copy takes over from the original */
export function structuredClone(...inputs) {
  if (inputs.length === 0) {
    throw withCode(new TypeError("The value argument must be specified"), "ERR_MISSING_ARGS");
  }
  const transfers = readTransferList(inputs[1]);
  const copy = copyAll(inputs[0]);
  detachAll(transfers);
  return copy;
}

export default structuredClone;
