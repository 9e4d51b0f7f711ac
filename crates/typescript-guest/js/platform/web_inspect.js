// Printing of web interfaces' objects: their class and some fields.

import { hiddenMethod } from "./interface.js";

const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/**
 * Lets objects of a class show fields.
 * @param fieldsOf returns an object with what to show of an object of the class
 */
export function showFields(Class, fieldsOf) {
  hiddenMethod(Class, INSPECT, function showObject(depth, options, inspect) {
    const name = this.constructor?.name ?? Class.name;
    if (depth < 0) return `[${name}]`;
    const deeper = options.depth === null || options.depth === undefined ? null : options.depth - 1;
    return `${name} ${inspect(fieldsOf(this), { ...options, depth: deeper })}`;
  });
}
