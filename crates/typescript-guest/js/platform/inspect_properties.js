// Prints the properties of an object: their keys, accessors, and those of its prototypes.

import {
  setHas,
  setAdd,
  append,
  hasOwn,
  isEnumerable,
  regExpExec,
  stringRepeat,
  symbolToString,
} from "./primordials.js";
import { builtInClasses } from "./inspect_names.js";
import { escapeAll, printPrimitive, quote } from "./inspect_strings.js";
import { printValue } from "./inspect_value.js";
import { stringWidth } from "./string_width.js";

const { apply, ownKeys } = Reflect;
const { getOwnPropertyDescriptor, getOwnPropertyNames, getOwnPropertySymbols, getPrototypeOf, keys } = Object;

/** A property of an object, an item of an array (without its index), a property of an array beside items. */
export const PROPERTY = 0;
export const ITEM = 1;
export const BESIDE_ITEMS = 2;

const IDENTIFIER = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
const INDEX = /^(?:0|[1-9][0-9]{0,9})$/;
const LARGEST_INDEX = 2 ** 32 - 2;
const PROTOTYPES_SHOWN = 3;
/** Of longer arrays only the items are printed: to list their keys would cost far more. */
const LONGEST_WITH_KEYS = 1 << 17;

/** Appends the symbols among the keys; without `showHidden` the enumerable ones. */
function appendSymbols(result, value, showHidden) {
  const symbols = getOwnPropertySymbols(value);
  for (let index = 0; index < symbols.length; index++) {
    if (showHidden || isEnumerable(value, symbols[index])) append(result, symbols[index]);
  }
  return result;
}

export function keysOf(value, showHidden) {
  return appendSymbols(showHidden ? getOwnPropertyNames(value) : namesOf(value), value, showHidden);
}

/** A namespace whose module did not run yet refuses to list its keys. */
function namesOf(value) {
  try {
    return keys(value);
  } catch {
    return getOwnPropertyNames(value);
  }
}

/** Whether a key is that of an array's item. */
export function isIndex(key) {
  return regExpExec(INDEX, key) !== null && +key <= LARGEST_INDEX;
}

/** The keys of an array beside its items, which come first in every list of keys. */
export function keysBesideItems(value, length, showHidden, longest = LONGEST_WITH_KEYS) {
  if (length > longest) return appendSymbols([], value, showHidden);
  const names = showHidden ? getOwnPropertyNames(value) : keys(value);
  let first = names.length;
  while (first > 0 && !isIndex(names[first - 1])) first -= 1;
  const result = [];
  for (; first < names.length; first++) append(result, names[first]);
  return appendSymbols(result, value, showHidden);
}

/** Whether the option `getters` wants this accessor to be called. */
function callsGetter(ctx, { set }) {
  if (ctx.getters === "get") return set === undefined;
  if (ctx.getters === "set") return set !== undefined;
  return ctx.getters === true;
}

function printGetter(ctx, descriptor, owner, depth) {
  const label = descriptor.set === undefined ? "Getter" : "Getter/Setter";
  const special = (text) => ctx.stylize(text, "special");
  if (!callsGetter(ctx, descriptor)) return special(`[${label}]`);
  let printed;
  ctx.indentationLvl += 2;
  try {
    const value = apply(descriptor.get, owner, []);
    if (typeof value === "object" && value !== null) {
      printed = `${special(`[${label}]`)} ${printValue(ctx, value, depth)}`;
    } else {
      const text = value === null ? ctx.stylize("null", "null") : printPrimitive(ctx, ctx.stylize, value);
      printed = `${special(`[${label}:`)} ${text}${special("]")}`;
    }
  } catch (error) {
    printed = `${special(`[${label}:`)} <Inspection threw (${error.message})>${special("]")}`;
  }
  ctx.indentationLvl -= 2;
  return printed;
}

function printKey(ctx, key, isEnumerableKey) {
  if (typeof key === "symbol") return `[${ctx.stylize(escapeAll(symbolToString(key)), "symbol")}]`;
  if (key === "__proto__") return "['__proto__']";
  if (!isEnumerableKey) return `[${escapeAll(key)}]`;
  if (regExpExec(IDENTIFIER, key) !== null) return ctx.stylize(key, "name");
  return ctx.stylize(quote(key), "string");
}

/**
 * @param {number} kind PROPERTY, ITEM or BESIDE_ITEMS
 * @param [descriptor] that of the property, if it is not the object's own
 * @param [owner] the object for which an inherited accessor is called
 */
export function printProperty(ctx, value, depth, key, kind, descriptor, owner = value) {
  const property = descriptor ??
    getOwnPropertyDescriptor(value, key) ?? { value: value[key], enumerable: true };
  let separator = " ";
  let printed;
  if (property.value !== undefined) {
    const indentation = ctx.compact === true && kind === PROPERTY ? 3 : 2;
    ctx.indentationLvl += indentation;
    printed = printValue(ctx, property.value, depth);
    if (indentation === 3 && ctx.breakLength < stringWidth(printed, ctx.colors)) {
      separator = `\n${stringRepeat(" ", ctx.indentationLvl)}`;
    }
    ctx.indentationLvl -= indentation;
  } else if (property.get !== undefined) printed = printGetter(ctx, property, owner, depth);
  else if (property.set !== undefined) printed = ctx.stylize("[Setter]", "special");
  else printed = ctx.stylize("undefined", "undefined");
  if (kind === ITEM) return printed;
  return `${printKey(ctx, key, property.enumerable !== false)}:${separator}${printed}`;
}

/** Whether a prototype is that of a class of the language, where the search for properties ends. */
function isBuiltIn(prototype) {
  const constructor = getOwnPropertyDescriptor(prototype, "constructor")?.value;
  return typeof constructor === "function" && setHas(builtInClasses, constructor.name);
}

/** Appends the printed properties of up to three prototypes, without methods and without what lies above. */
export function printInherited(ctx, value, first, depth, output) {
  const known = new Set();
  let holder = first;
  for (let level = 0; level < PROTOTYPES_SHOWN; level++) {
    if (level !== 0 || holder === value) {
      holder = getPrototypeOf(holder);
      if (holder === null || isBuiltIn(holder)) return;
    }
    const names = ownKeys(holder);
    append(ctx.seen, value);
    for (let index = 0; index < names.length; index++) {
      const key = names[index];
      if (key === "constructor" || hasOwn(value, key) || setHas(known, key)) continue;
      const descriptor = getOwnPropertyDescriptor(holder, key);
      if (typeof descriptor.value === "function") continue;
      const printed = printProperty(ctx, holder, depth, key, PROPERTY, descriptor, value);
      append(output, ctx.colors ? `\u001b[2m${printed}\u001b[22m` : printed);
    }
    ctx.seen.length -= 1;
    for (let index = 0; index < names.length; index++) setAdd(known, names[index]);
  }
}
