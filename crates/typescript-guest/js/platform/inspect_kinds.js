// Describes each kind of object: the text before its braces, its contents, and its properties.

import { brandOf, isArguments, isNamespace } from "./brands.js";
import * as contents from "./inspect_collections.js";
import { printError } from "./inspect_errors.js";
import { printFunction } from "./inspect_functions.js";
import { plainPrefix, prefixOf } from "./inspect_names.js";
import { plain } from "./inspect_options.js";
import { keysBesideItems, keysOf } from "./inspect_properties.js";
import { printNumber, printPrimitive } from "./inspect_strings.js";
import { isTooDeep } from "./inspect_value.js";
import { append, arraySlice, mapGet, mapSize, setSize, typedArrayLength, uncurry } from "./primordials.js";

const { iterator } = Symbol;
const { isNaN } = Number;
const { isView } = ArrayBuffer;

const dateTime = uncurry(Date.prototype.getTime);
const dateToISOString = uncurry(Date.prototype.toISOString);
const dateToString = uncurry(Date.prototype.toString);
const regExpToString = uncurry(RegExp.prototype.toString);
const mapEntries = uncurry(Map.prototype.entries);
const setValues = uncurry(Set.prototype.values);
const unbox = new Map(
  [Number, String, Boolean, Symbol, BigInt].map((Class) => [Class.name, uncurry(Class.prototype.valueOf)]),
);

const nothing = () => [];

/**
 * The result of a function of this module. Its argument `about` has the context, the object, the name of its
 * class, its tag, its keys, and printed inherited properties.
 * @returns `done`, the whole text if nothing is left to print; else `base`, the text before the braces,
 *   `open` and `close`, the braces, `keys`, the properties to print, `entries(ctx, value, depth)`, a function
 *   that prints the contents, and `isList`, whether entries may stand in columns
 */
function describe(open, close, keys, entries = nothing, isList = false) {
  return { done: undefined, base: "", open, close, keys, entries, isList };
}

const finished = (done) => ({ done });

function withBase(base, kind, { ctx, keys, inherited }) {
  if (keys.length === 0 && inherited === undefined) return finished(kind ? ctx.stylize(base, kind) : base);
  return { ...describe("{", "}", keys), base };
}

function isBare({ keys, inherited }) {
  return keys.length === 0 && inherited === undefined;
}

function describeArray(about) {
  const { ctx, value, name, tag, inherited } = about;
  const { length } = value;
  const prefix = name !== "Array" || tag !== "" ? prefixOf(name, tag, "Array", `(${length})`) : "";
  const keys = keysBesideItems(value, length, ctx.showHidden);
  if (length === 0 && keys.length === 0 && inherited === undefined) return finished(`${prefix}[]`);
  return describe(`${prefix}[`, "]", keys, contents.printArray, true);
}

function describeTypedArray(about, brand) {
  const { ctx, value, name, tag } = about;
  const length = typedArrayLength(value);
  const keys = keysBesideItems(value, length, ctx.showHidden);
  const prefix = prefixOf(name, tag, name === null ? brand : "", `(${length})`);
  if (length === 0 && keys.length === 0 && !ctx.showHidden) return finished(`${prefix}[]`);
  const readable = name === null ? new globalThis[brand](value) : value;
  const entries = (_, __, depth) => contents.printTypedArray(ctx, value, depth, readable);
  return describe(`${prefix}[`, "]", keys, entries, true);
}

function describeSet(about) {
  const { value, name, tag } = about;
  const prefix = prefixOf(name, tag, "Set", `(${setSize(value)})`);
  if (setSize(value) === 0 && isBare(about)) return finished(`${prefix}{}`);
  const items = name === null ? setValues(value) : value;
  return describe(`${prefix}{`, "}", about.keys, (ctx, _, depth) =>
    contents.printSet(ctx, value, depth, items),
  );
}

function describeMap(about) {
  const { value, name, tag } = about;
  const prefix = prefixOf(name, tag, "Map", `(${mapSize(value)})`);
  if (mapSize(value) === 0 && isBare(about)) return finished(`${prefix}{}`);
  const items = name === null ? mapEntries(value) : value;
  return describe(`${prefix}{`, "}", about.keys, (ctx, _, depth) =>
    contents.printMap(ctx, value, depth, items),
  );
}

function describeIterator(about, brand) {
  const { items, hasPairs, open } = contents.describeIterator(about.value, brand, about.tag);
  return describe(open, "}", about.keys, (ctx, _, depth) =>
    contents.printIterator(ctx, depth, items, hasPairs),
  );
}

/** Kinds that are printed as such only if the object can be iterated, or has lost its prototype. */
const ITERABLE = new Map([
  ["Set", describeSet],
  ["Map", describeMap],
  ["Map Iterator", describeIterator],
  ["Set Iterator", describeIterator],
]);

function describeDate(about) {
  const { value, name, tag } = about;
  const text = isNaN(dateTime(value)) ? dateToString(value) : dateToISOString(value);
  const prefix = prefixOf(name, tag, "Date");
  return withBase(prefix === "Date " ? text : `${prefix}${text}`, "date", about);
}

function describeRegExp(about, _, depth) {
  const { ctx, value, name, tag } = about;
  const text = regExpToString(name === null ? new RegExp(value) : value);
  const prefix = prefixOf(name, tag, "RegExp");
  const base = prefix === "RegExp " ? text : `${prefix}${text}`;
  if (isTooDeep(ctx, depth)) return finished(ctx.stylize(base, "regexp"));
  return withBase(base, "regexp", about);
}

function describeError(about) {
  const { ctx, value, name, tag, keys } = about;
  return withBase(printError(ctx, value, name, tag, keys), "", about);
}

function describeBuffer(about, brand) {
  const { ctx, value, name, tag, keys, isOfView } = about;
  const prefix = prefixOf(name, tag, brand);
  if (isOfView && isBare(about)) {
    return finished(`${prefix}{ byteLength: ${printNumber(ctx.stylize, value.byteLength, false)} }`);
  }
  const all = ["byteLength"];
  for (let index = 0; index < keys.length; index++) append(all, keys[index]);
  return describe(`${prefix}{`, "}", all, isOfView ? nothing : contents.printBuffer);
}

function describeDataView({ value, name, tag, keys }) {
  const all = ["byteLength", "byteOffset", "buffer"];
  for (let index = 0; index < keys.length; index++) append(all, keys[index]);
  return describe(`${prefixOf(name, tag, "DataView")}{`, "}", all);
}

const describeAs = (entries) => (about, brand) =>
  describe(`${prefixOf(about.name, about.tag, brand)}{`, "}", about.keys, entries);

function describeBoxed(about, brand) {
  const { ctx, value, name, tag } = about;
  const keys = brand === "String" ? arraySlice(about.keys, value.length) : about.keys;
  let base = `[${brand}`;
  if (name !== brand) base += name === null ? " (null prototype)" : ` (${name})`;
  base += `: ${printPrimitive(ctx, plain, mapGet(unbox, brand)(value))}]`;
  if (tag !== "" && tag !== name) base += ` [${tag}]`;
  if (keys.length === 0 && ctx.stylize !== plain) base = ctx.stylize(base, brand.toLowerCase());
  return withBase(base, "", { ...about, keys });
}

const KINDS = new Map([
  ["RegExp", describeRegExp],
  ["Date", describeDate],
  ["Error", describeError],
  ["ArrayBuffer", describeBuffer],
  ["SharedArrayBuffer", describeBuffer],
  ["DataView", describeDataView],
  ["Promise", describeAs(contents.printPromise)],
  ["WeakSet", describeAs(contents.printWeak)],
  ["WeakMap", describeAs(contents.printWeak)],
  ["Number", describeBoxed],
  ["String", describeBoxed],
  ["Boolean", describeBoxed],
  ["BigInt", describeBoxed],
  ["Symbol", describeBoxed],
]);

function describeFunction(about, brand) {
  const { value, name, tag } = about;
  return withBase(printFunction(value, brand, name, tag), "special", about);
}

function describePlain(about) {
  const { value, name, tag } = about;
  let open = "{";
  if (isArguments(value)) open = "[Arguments] {";
  else if (tag !== "") open = `${prefixOf(name, tag, "Object")}{`;
  return isBare(about) ? finished(`${open}}`) : describe(open, "}", about.keys);
}

function describeNamespace({ name, tag, keys }) {
  const entries = (ctx, value, depth) => contents.printNamespace(ctx, value, depth, keys);
  return describe(`${prefixOf(name, tag, "Module")}{`, "}", [], entries);
}

function describeOther(about) {
  const open = `${plainPrefix(about.value, about.name, about.tag)}{`;
  return isBare(about) ? finished(`${open}}`) : describe(open, "}", about.keys);
}

/** Describes any object or function; `about` gets its `keys`. */
export function describeObject(about, depth) {
  const { ctx, value, name } = about;
  const brand = brandOf(value);
  if (name === null || iterator in value) {
    if (brand === "Array") return describeArray(about);
    const ofIterable = mapGet(ITERABLE, brand);
    if (ofIterable === undefined && isView(value) && brand !== "DataView") {
      return describeTypedArray(about, brand);
    }
    about.keys = keysOf(value, ctx.showHidden);
    if (ofIterable !== undefined) return ofIterable(about, brand);
  } else about.keys = keysOf(value, ctx.showHidden);
  if (typeof value === "function") return describeFunction(about, brand);
  if (name === "Object") return describePlain(about);
  const ofKind = mapGet(KINDS, brand);
  if (ofKind !== undefined) return ofKind(about, brand, depth);
  if (value instanceof Error) return describeError(about);
  return isNamespace(value) ? describeNamespace(about) : describeOther(about);
}
