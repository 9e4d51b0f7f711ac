// Prints one value: a primitive, a proxy, an object that prints itself, or any other object.

import native from "codeyard:native";
import { inspect } from "./inspect.js";
import { printList } from "./inspect_layout.js";
import { printObject } from "./inspect_object.js";
import { customInspect, optionsForCustom } from "./inspect_options.js";
import { printPrimitive } from "./inspect_strings.js";
import { arrayIncludes, mapGet, mapSet, mapSize, stringRepeat, stringReplaceAll } from "./primordials.js";

const { apply } = Reflect;
const { proxyTarget } = native;

/** Whether objects at this depth are printed as their class only. */
export function isTooDeep(ctx, depth) {
  return ctx.depth !== null && depth > ctx.depth;
}

function printProxy(ctx, { 0: target, 1: handler }, depth) {
  if (isTooDeep(ctx, depth)) return ctx.stylize("Proxy [Array]", "special");
  ctx.indentationLvl += 2;
  const output = [printValue(ctx, target, depth + 1), printValue(ctx, handler, depth + 1)];
  ctx.indentationLvl -= 2;
  return printList(ctx, output, "Proxy [", "]", depth + 1);
}

/** The object behind proxies; null where a proxy was revoked. */
function innermost(target) {
  for (let inner = target; inner;) {
    const proxy = proxyTarget(inner);
    if (proxy === undefined) return inner;
    inner = proxy[0];
  }
  return null;
}

/** An object that is the prototype of its own class has that class's methods but not its state. */
function isPrototype(value) {
  const { constructor } = value;
  return Boolean(constructor) && constructor.prototype === value;
}

/** Lets the object print itself; undefined if it does not. */
function printCustom(ctx, value, original, depth) {
  const custom = value[customInspect];
  if (typeof custom !== "function" || custom === inspect || isPrototype(value)) return undefined;
  const left = ctx.depth === null ? null : ctx.depth - depth;
  const isForeign = value !== original || !(original instanceof Object);
  const result = apply(custom, original, [left, optionsForCustom(ctx, isForeign), inspect]);
  if (result === original) return undefined;
  if (typeof result !== "string") return printValue(ctx, result, depth);
  return stringReplaceAll(result, "\n", `\n${stringRepeat(" ", ctx.indentationLvl)}`);
}

/** Numbers the objects that contain themselves. */
function printCircular(ctx, value) {
  ctx.circular ??= new Map();
  let number = mapGet(ctx.circular, value);
  if (number === undefined) {
    number = mapSize(ctx.circular) + 1;
    mapSet(ctx.circular, value, number);
  }
  return ctx.stylize(`[Circular *${number}]`, "special");
}

/**
 * @param {number} depth how many objects are around the value
 * @param {boolean} [isOfView] whether it is a property of a typed array, whose buffer is then printed short
 */
export function printValue(ctx, value, depth, isOfView = false) {
  if (value === null) return ctx.stylize("null", "null");
  if (typeof value !== "object" && typeof value !== "function")
    return printPrimitive(ctx, ctx.stylize, value);
  const proxy = proxyTarget(value);
  let target = value;
  if (proxy !== undefined) {
    target = innermost(proxy[0]);
    if (target === null) return ctx.stylize("<Revoked Proxy>", "special");
    if (ctx.showProxy) return printProxy(ctx, proxy, depth);
  }
  if (ctx.customInspect) {
    const printed = printCustom(ctx, target, value, depth);
    if (printed !== undefined) return printed;
  }
  if (arrayIncludes(ctx.seen, target)) return printCircular(ctx, target);
  return printObject(ctx, target, depth, isOfView);
}
