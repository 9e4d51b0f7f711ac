// Finds the name of an object's class, and the text before its braces.

import { brandOf } from "./brands.js";
import { inspect } from "./inspect.js";
import { printInherited } from "./inspect_properties.js";
import { isTooDeep } from "./inspect_value.js";
import { hasInstance, hasOwn, isEnumerable, setHas } from "./primordials.js";

const { getOwnPropertyDescriptor, getOwnPropertyNames, getPrototypeOf } = Object;
const { toStringTag } = Symbol;

/** Names of the language's own classes. */
export const builtInClasses = new Set(
  getOwnPropertyNames(globalThis).filter((name) => /^[A-Z][a-zA-Z0-9]+$/.test(name)),
);

function isInstance(value, Class) {
  try {
    return value instanceof Class;
  } catch {
    return false;
  }
}

/** The function that a prototype names as its constructor; undefined without one that has a name. */
function ownConstructor(prototype) {
  const value = getOwnPropertyDescriptor(prototype, "constructor")?.value;
  return typeof value === "function" && value.name !== "" ? value : undefined;
}

/** The name that a prototype gives to `value`, an object that inherits from it. */
function nameFrom(prototype, value) {
  if (prototype === Object.prototype && hasInstance(Object, value)) return "Object";
  if (prototype === Function.prototype && hasInstance(Function, value)) return "Function";
  const constructor = ownConstructor(prototype);
  return constructor !== undefined && isInstance(value, constructor) ? `${constructor.name}` : undefined;
}

/** The engine's name of an object whose prototypes name no class. */
function engineName(value) {
  const brand = brandOf(value);
  return setHas(builtInClasses, brand) ? brand : "Object";
}

/** A name made of the engine's and of the first prototype, which itself has no class. */
function compoundName(ctx, value, prototype, depth, inherited) {
  const name = engineName(value);
  if (isTooDeep(ctx, depth)) return `${name} <Complex prototype>`;
  const outer = classNameOf(ctx, prototype, depth + 1, inherited);
  if (outer !== null) return `${name} <${outer}>`;
  return `${name} <${inspect(prototype, { ...ctx, customInspect: false, depth: -1 })}>`;
}

/**
 * The name of the class; null of an object without a prototype. `inherited` takes printed properties of the
 * prototypes of a program's own class; it is undefined where these are not to be shown.
 */
export function classNameOf(ctx, value, depth, inherited) {
  const first = getPrototypeOf(value);
  for (let holder = value; holder !== null; holder = getPrototypeOf(holder)) {
    const name = nameFrom(holder, value);
    if (name === undefined) continue;
    if (inherited !== undefined && (holder !== first || !setHas(builtInClasses, name))) {
      printInherited(ctx, value, holder === value ? value : first, depth, inherited);
    }
    return name;
  }
  return first === null ? null : compoundName(ctx, value, first, depth, inherited);
}

/** The tag of an object, unless it is printed among its properties; "" without one. */
export function tagOf(ctx, value) {
  const tag = value[toStringTag];
  if (typeof tag !== "string" || tag === "") return "";
  const isShown = ctx.showHidden ? hasOwn(value, toStringTag) : isEnumerable(value, toStringTag);
  return isShown ? "" : tag;
}

/** The text before the braces, with a space at its end: `Foo(2) [tag] `. */
export function prefixOf(name, tag, fallback, size = "") {
  if (name === null) {
    const suffix = tag !== "" && fallback !== tag ? `[${tag}] ` : "";
    return `[${fallback}${size}: null prototype] ${suffix}`;
  }
  return tag !== "" && name !== tag ? `${name}${size} [${tag}] ` : `${name}${size} `;
}

/** The prefix of an object that is of no class with a printing of its own. */
export function plainPrefix(value, name, tag) {
  if (name !== null) return prefixOf(name, tag, "");
  const fallback = engineName(value);
  return prefixOf(name, tag, fallback === tag ? "Object" : fallback);
}
