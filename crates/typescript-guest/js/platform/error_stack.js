// Reads the stack of an error: the line with its name and message, and the lines of its frames.

import {
  append,
  arrayJoin,
  errorToString,
  regExpExec,
  stringIndexOf,
  stringSlice,
  stringSplit,
  stringStartsWith,
} from "./primordials.js";

const { captureStackTrace } = Error;
const { defineProperty, getOwnPropertyDescriptor } = Object;
const { apply } = Reflect;
const FIRST_FRAME = /^\s*at /;

/** Name and message as `toString` of errors joins them, even if reading them fails. */
function headOf(error) {
  try {
    return errorToString(error);
  } catch {
    return "Error";
  }
}

function trimEnd(text) {
  let end = text.length;
  while (end > 0 && (text[end - 1] === "\n" || text[end - 1] === " ")) end -= 1;
  return stringSlice(text, 0, end);
}

/**
 * Lets `stack` itself begin with name and message, as programs for Node expect it, on an engine whose errors
 * inherit a `stack` with the frames only. What a program sets becomes the error's own.
 */
export function completeStacks() {
  const get = getOwnPropertyDescriptor(Error.prototype, "stack")?.get;
  if (get === undefined) return;
  const complete = {
    get stack() {
      const frames = apply(get, this, []);
      return typeof frames === "string" ? trimEnd(`${headOf(this)}\n${frames}`) : frames;
    },
    set stack(value) {
      defineProperty(this, "stack", { value, writable: true, configurable: true });
    },
  };
  const descriptor = getOwnPropertyDescriptor(complete, "stack");
  defineProperty(Error.prototype, "stack", { ...descriptor, enumerable: false });
}

/**
 * Name, message and frames in one text. An engine's `stack` may have the frames only; then the text begins
 * with the present name and message. A stack that a program has set stays as it is.
 */
export function stackText(error) {
  const { stack } = error;
  if (!stack) return headOf(error);
  const text = `${stack}`;
  if (regExpExec(FIRST_FRAME, text) === null) return text;
  return `${headOf(error)}\n${trimEnd(text)}`;
}

/** The lines of an error's frames. */
export function framesOf(error) {
  const text = stackText(error);
  const head = headOf(error);
  const start = stringIndexOf(text, "\n    at ", stringStartsWith(text, head) ? head.length : 0);
  return start === -1 ? [] : stringSplit(stringSlice(text, start + 1), "\n");
}

/** Sets the stack of a new error: a first line, then the frames of `origin`. */
export function setStack(error, head, origin = error) {
  const lines = [head];
  const frames = framesOf(origin);
  for (let index = 0; index < frames.length; index++) append(lines, frames[index]);
  defineProperty(error, "stack", { value: arrayJoin(lines, "\n"), writable: true, configurable: true });
}

/** The frames of the call of a function, without those of what it calls where the engine can tell. */
export function framesOutside(callee) {
  const holder = new Error("");
  if (captureStackTrace !== undefined) captureStackTrace(holder, callee);
  return framesOf(holder);
}
