// Prints the contents of arrays, maps, sets, buffers, promises and iterators.

import native from "codeyard:native";
import { printList } from "./inspect_layout.js";
import { BESIDE_ITEMS, isIndex, ITEM, printProperty } from "./inspect_properties.js";
import { printBigInt, printNumber } from "./inspect_strings.js";
import { printValue } from "./inspect_value.js";
import { arePairs, remainingItems } from "./iterators.js";
import { append, hasOwn, mapSize, setSize, stringSlice, typedArrayLength } from "./primordials.js";

const { keys } = Object;
const { max, min } = Math;
const { decode, promiseResult, promiseState } = native;
const plural = (count) => (count > 1 ? "s" : "");

/** How many of `length` items are printed. */
function shownOf(ctx, length) {
  return min(max(0, ctx.maxArrayLength), length);
}

function appendRemaining(output, count, noun = "item") {
  if (count > 0) append(output, `... ${count} more ${noun}${plural(count)}`);
  return output;
}

function appendHoles(ctx, output, count) {
  append(output, ctx.stylize(`<${count} empty item${plural(count)}>`, "undefined"));
}

/** Continues an array at its first hole; each run of holes counts as one item. */
function printSparse(ctx, value, depth, output, shown, first) {
  const names = keys(value);
  let next = first;
  for (let index = first; index < names.length && output.length < shown; index++) {
    if (!isIndex(names[index])) break;
    const place = +names[index];
    if (place !== next) {
      appendHoles(ctx, output, place - next);
      next = place;
      if (output.length === shown) break;
    }
    append(output, printProperty(ctx, value, depth, names[index], ITEM));
    next += 1;
  }
  const rest = value.length - next;
  if (output.length === shown) return appendRemaining(output, rest);
  if (rest > 0) appendHoles(ctx, output, rest);
  return output;
}

export function printArray(ctx, value, depth) {
  const { length } = value;
  const shown = shownOf(ctx, length);
  const output = [];
  for (let index = 0; index < shown; index++) {
    if (!hasOwn(value, index)) return printSparse(ctx, value, depth, output, shown, index);
    append(output, printProperty(ctx, value, depth, index, ITEM));
  }
  return appendRemaining(output, length - shown);
}

const VIEW_PROPERTIES = ["BYTES_PER_ELEMENT", "length", "byteLength", "byteOffset", "buffer"];

/** @param readable the array itself, or one with the same items if it lost its prototype */
export function printTypedArray(ctx, value, depth, readable) {
  const length = typedArrayLength(value);
  const shown = shownOf(ctx, length);
  const print = length > 0 && typeof readable[0] === "bigint" ? printBigInt : printNumber;
  const output = [];
  for (let index = 0; index < shown; index++) {
    append(output, print(ctx.stylize, readable[index], ctx.numericSeparator));
  }
  appendRemaining(output, length - shown);
  if (!ctx.showHidden) return output;
  ctx.indentationLvl += 2;
  for (let index = 0; index < VIEW_PROPERTIES.length; index++) {
    const key = VIEW_PROPERTIES[index];
    append(output, `[${key}]: ${printValue(ctx, readable[key], depth, true)}`);
  }
  ctx.indentationLvl -= 2;
  return output;
}

export function printBuffer(ctx, value) {
  let bytes;
  try {
    bytes = new Uint8Array(value);
  } catch {
    return [ctx.stylize("(detached)", "special")];
  }
  const shown = shownOf(ctx, bytes.length);
  const digits = decode(new Uint8Array(value, 0, shown), "hex", false);
  let text = "";
  for (let index = 0; index < digits.length; index += 2) {
    text += `${index === 0 ? "" : " "}${stringSlice(digits, index, index + 2)}`;
  }
  const hidden = bytes.length - shown;
  if (hidden > 0) text += ` ... ${hidden} more byte${plural(hidden)}`;
  return [`${ctx.stylize("[Uint8Contents]", "special")}: <${text}>`];
}

/** @param items the set, or what iterates it if it lost its prototype */
export function printSet(ctx, value, depth, items) {
  const length = setSize(value);
  const shown = shownOf(ctx, length);
  const output = [];
  ctx.indentationLvl += 2;
  for (const item of items) {
    if (output.length >= shown) break;
    append(output, printValue(ctx, item, depth));
  }
  ctx.indentationLvl -= 2;
  return appendRemaining(output, length - shown);
}

/** @param entries the map, or what iterates it if it lost its prototype */
export function printMap(ctx, value, depth, entries) {
  const length = mapSize(value);
  const shown = shownOf(ctx, length);
  const output = [];
  ctx.indentationLvl += 2;
  for (const { 0: key, 1: item } of entries) {
    if (output.length >= shown) break;
    append(output, `${printValue(ctx, key, depth)} => ${printValue(ctx, item, depth)}`);
  }
  ctx.indentationLvl -= 2;
  return appendRemaining(output, length - shown);
}

function printPair(ctx, pair, depth) {
  const output = [printValue(ctx, pair[0], depth), printValue(ctx, pair[1], depth)];
  return printList(ctx, output, "[", "]", depth);
}

/** Prints the remaining items of a map's or set's iterator. */
export function printIterator(ctx, depth, items, hasPairs) {
  const shown = shownOf(ctx, items.length);
  const output = [];
  ctx.indentationLvl += 2;
  for (let index = 0; index < shown; index++) {
    append(output, hasPairs ? printPair(ctx, items[index], depth) : printValue(ctx, items[index], depth));
  }
  ctx.indentationLvl -= 2;
  return appendRemaining(output, items.length - shown);
}

/** The items of an iterator, and the opening that tells which kind of iterator it is. */
export function describeIterator(value, brand, tag) {
  const items = remainingItems(value, brand);
  const hasPairs = arePairs(items);
  const kind = brand === "Map Iterator" ? "Map" : "Set";
  const name = hasPairs ? `${kind} Entries` : brand;
  const own = tag === "" || tag === brand ? "" : `${tag}] [`;
  return { items, hasPairs, open: `[${own}${name}] {` };
}

export function printPromise(ctx, value, depth) {
  const state = promiseState(value);
  if (state === "pending") return [ctx.stylize("<pending>", "special")];
  ctx.indentationLvl += 2;
  const printed = printValue(ctx, promiseResult(value), depth);
  ctx.indentationLvl -= 2;
  return [state === "rejected" ? `${ctx.stylize("<rejected>", "special")} ${printed}` : printed];
}

/** The contents of a weak collection cannot be listed. */
export function printWeak(ctx) {
  return [ctx.stylize("<items unknown>", "special")];
}

/** Prints a module's exports; one that has no value yet throws when it is read. */
export function printNamespace(ctx, value, depth, names) {
  const output = [];
  for (let index = 0; index < names.length; index++) {
    try {
      append(output, printProperty(ctx, value, depth, names[index], BESIDE_ITEMS));
    } catch {
      append(output, `${names[index]}: ${ctx.stylize("<uninitialized>", "special")}`);
    }
  }
  return output;
}
