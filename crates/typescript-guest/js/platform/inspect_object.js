// Prints objects and functions: contents, then properties, joined to a text.

import { describeObject } from "./inspect_kinds.js";
import { layOut } from "./inspect_layout.js";
import { classNameOf, plainPrefix, tagOf } from "./inspect_names.js";
import { BESIDE_ITEMS, printProperty, PROPERTY } from "./inspect_properties.js";
import { isTooDeep } from "./inspect_value.js";
import { append, arraySlice, arraySort, mapGet, stringSlice } from "./primordials.js";

const MOST_CHARACTERS = 2 ** 27;
const OVERFLOWS = ["Maximum call stack size exceeded", "stack overflow"];

function isStackOverflow(error) {
  return error instanceof Error && (error.message === OVERFLOWS[0] || error.message === OVERFLOWS[1]);
}

/** Prints contents and properties, in this order. */
function printEntries(about, description, depth) {
  const { ctx, value, inherited } = about;
  const { entries, keys, isList } = description;
  const output = entries(ctx, value, depth);
  for (let index = 0; index < keys.length; index++) {
    append(output, printProperty(ctx, value, depth, keys[index], isList ? BESIDE_ITEMS : PROPERTY));
  }
  if (inherited === undefined) return output;
  for (let index = 0; index < inherited.length; index++) append(output, inherited[index]);
  return output;
}

/** Marks an object that contains itself with its number. */
function markReference(ctx, value, description) {
  const number = ctx.circular === undefined ? undefined : mapGet(ctx.circular, value);
  if (number === undefined) return;
  const mark = ctx.stylize(`<ref *${number}>`, "special");
  if (ctx.compact === true) description.open = `${mark} ${description.open}`;
  else description.base = description.base === "" ? mark : `${mark} ${description.base}`;
}

/** Sorts the entries; of a list only the properties after its items. */
function sortEntries(ctx, output, { isList, keys }) {
  const order = ctx.sorted === true ? undefined : ctx.sorted;
  if (!isList) {
    arraySort(output, order);
    return;
  }
  const first = output.length - keys.length;
  const sorted = arraySort(arraySlice(output, first), order);
  for (let index = 0; index < sorted.length; index++) output[first + index] = sorted[index];
}

/** Ends the descent once the text is larger than anyone reads. */
function keepBudget(ctx, length) {
  const total = (ctx.budget[ctx.indentationLvl] ?? 0) + length;
  ctx.budget[ctx.indentationLvl] = total;
  if (total > MOST_CHARACTERS) ctx.depth = -1;
}

function shortName({ value, name, tag }) {
  return stringSlice(plainPrefix(value, name, tag), 0, -1);
}

/** @param {number} depth how many objects are around this one */
export function printObject(ctx, value, depth, isOfView) {
  let inherited = ctx.showHidden && !isTooDeep(ctx, depth) ? [] : undefined;
  const name = classNameOf(ctx, value, depth, inherited);
  if (inherited !== undefined && inherited.length === 0) inherited = undefined;
  const about = { ctx, value, name, tag: tagOf(ctx, value), keys: undefined, inherited, isOfView };
  const description = describeObject(about, depth);
  if (description.done !== undefined) return description.done;
  if (isTooDeep(ctx, depth)) {
    return ctx.stylize(name === null ? shortName(about) : `[${shortName(about)}]`, "special");
  }
  const inner = depth + 1;
  const { indentationLvl } = ctx;
  append(ctx.seen, value);
  ctx.currentDepth = inner;
  let output;
  try {
    output = printEntries(about, description, inner);
  } catch (error) {
    if (!isStackOverflow(error)) throw error;
    ctx.seen.length -= 1;
    ctx.indentationLvl = indentationLvl;
    const note = "Inspection interrupted prematurely. Maximum call stack size exceeded.";
    return ctx.stylize(`[${shortName(about)}: ${note}]`, "special");
  }
  markReference(ctx, value, description);
  ctx.seen.length -= 1;
  if (ctx.sorted) sortEntries(ctx, output, description);
  const { base, open, close, isList } = description;
  const printed = layOut(ctx, output, base, open, close, isList, inner, value);
  keepBudget(ctx, printed.length);
  return printed;
}
