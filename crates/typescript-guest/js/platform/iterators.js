// Lists the remaining items of a Map's or Set's iterator without consuming them.

import { append, uncurry, weakMapGet, weakMapSet } from "./primordials.js";

const { isArray } = Array;
const { defineProperty, getPrototypeOf, isExtensible } = Object;
const nextOfMap = uncurry(getPrototypeOf(new Map().keys()).next);
const nextOfSet = uncurry(getPrototypeOf(new Set().keys()).next);

/** The items that were taken out of an iterator to show them; its own `next` then gives them. */
const taken = new WeakMap();

/** Takes out all items, because the engine can neither list them nor restart. */
function drain(iterator, next) {
  const items = [];
  for (let step = next(iterator); !step.done; step = next(iterator)) append(items, step.value);
  return items;
}

/** Makes the iterator give its items once more. */
function giveBack(iterator, rest) {
  const next = function next() {
    if (rest.position < rest.items.length) return { value: rest.items[rest.position++], done: false };
    return { value: undefined, done: true };
  };
  defineProperty(iterator, "next", { value: next, writable: true, configurable: true });
  weakMapSet(taken, iterator, rest);
}

/** The remaining items in order; none of an iterator that cannot be restored. */
export function remainingItems(iterator, brand) {
  let rest = weakMapGet(taken, iterator);
  if (rest === undefined) {
    if (!isExtensible(iterator)) return [];
    rest = { items: drain(iterator, brand === "Map Iterator" ? nextOfMap : nextOfSet), position: 0 };
    if (rest.items.length > 0) giveBack(iterator, rest);
  }
  const items = [];
  for (let index = rest.position; index < rest.items.length; index++) append(items, rest.items[index]);
  return items;
}

/** Whether all items look like the pairs of `entries()`. */
export function arePairs(items) {
  for (let index = 0; index < items.length; index++) {
    if (!isArray(items[index]) || items[index].length !== 2) return false;
  }
  return items.length > 0;
}
