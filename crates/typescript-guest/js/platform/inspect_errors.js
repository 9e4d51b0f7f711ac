// Prints errors: name, message, frames; their causes and properties follow as those of other objects.

import { stackText } from "./error_stack.js";
import { prefixOf } from "./inspect_names.js";
import {
  append,
  arrayIncludes,
  arrayIndexOf,
  arrayJoin,
  arraySplice,
  regExpExec,
  stringEndsWith,
  stringIncludes,
  stringIndexOf,
  stringRepeat,
  stringReplaceAll,
  stringSlice,
  stringSplit,
  stringStartsWith,
} from "./primordials.js";
import { isError } from "./types.js";

const { isArray } = Array;
const FRAME = "\n    at";
const SHOWN_KEYS = ["name", "message", "stack"];
const FEWEST_SHARED = 4;
const NAME_AT_START = /^([A-Z][a-z_ A-Z0-9[\]()-]+)(?::|\n {4}at)/;
const NAME_ALONE = /^([a-z_A-Z0-9-]*Error)$/;

/** Removes keys whose value stands in the stack already. */
function removeShownKeys(ctx, keys, error, stack) {
  if (ctx.showHidden || keys.length === 0) return;
  for (let shown = 0; shown < SHOWN_KEYS.length; shown++) {
    const index = arrayIndexOf(keys, SHOWN_KEYS[shown]);
    if (index !== -1 && stringIncludes(stack, error[SHOWN_KEYS[shown]])) arraySplice(keys, index, 1);
  }
}

function addHiddenKeys(keys, error) {
  if ("cause" in error && !arrayIncludes(keys, "cause")) append(keys, "cause");
  if (isArray(error.errors) && !arrayIncludes(keys, "errors")) append(keys, "errors");
}

/** Whether the stack begins with exactly this name of an error. */
function beginsWithName(stack, name) {
  if (!stringEndsWith(name, "Error") || !stringStartsWith(stack, name)) return false;
  return stack.length === name.length || stack[name.length] === ":" || stack[name.length] === "\n";
}

/** Puts the class of the error before or in place of the name with which the stack begins. */
function improveName(stack, name, className, tag) {
  let shown = name;
  let length = name.length;
  if (className === null) {
    const match = regExpExec(NAME_AT_START, stack) ?? regExpExec(NAME_ALONE, stack);
    length = match === null ? 0 : match[1].length;
    shown = length === 0 ? "Error" : match[1];
  } else if (!beginsWithName(stack, name)) return stack;
  const prefix = stringSlice(prefixOf(className, tag, shown), 0, -1);
  if (name === prefix) return stack;
  if (!stringIncludes(prefix, name)) return `${prefix} [${name}]${stringSlice(stack, length)}`;
  return length === 0 ? `${prefix}: ${stack}` : `${prefix}${stringSlice(stack, length)}`;
}

/** The longest run, from its first place on, of more than three lines that two stacks share. */
function sharedLines(lines, others) {
  for (let offset = 0; offset < lines.length - FEWEST_SHARED + 1; offset++) {
    const place = arrayIndexOf(others, lines[offset]);
    if (place === -1) continue;
    let count = 1;
    while (
      offset + count < lines.length &&
      place + count < others.length &&
      lines[offset + count] === others[place + count]
    ) {
      count += 1;
    }
    if (count >= FEWEST_SHARED) return { offset, count };
  }
  return { offset: 0, count: 0 };
}

function causeOf(error) {
  try {
    return error.cause;
  } catch {
    return undefined;
  }
}

/** The lines of the frames, shortened where the cause's stack repeats them. */
function shortenFrames(ctx, error, text) {
  const lines = stringSplit(text, "\n");
  const cause = causeOf(error);
  if (!isError(cause)) return lines;
  const stack = stackText(cause);
  const start = stringIndexOf(stack, FRAME);
  if (start === -1) return lines;
  const { offset, count } = sharedLines(lines, stringSplit(stringSlice(stack, start + 1), "\n"));
  if (count > 0) {
    const note = `    ... ${count - 2} lines matching cause stack trace ...`;
    arraySplice(lines, offset + 1, count - 2, ctx.stylize(note, "undefined"));
  }
  return lines;
}

/** Prints the stack, and settles in `keys` which properties follow. */
export function printError(ctx, error, className, tag, keys) {
  const name = error.name === undefined || error.name === null ? "Error" : `${error.name}`;
  const whole = stackText(error);
  removeShownKeys(ctx, keys, error, whole);
  addHiddenKeys(keys, error);
  let stack = improveName(whole, name, className, tag);
  const { message } = error;
  const found = message ? stringIndexOf(stack, message) : -1;
  const start = stringIndexOf(stack, FRAME, found > 0 ? found + message.length : 0);
  if (start === -1) stack = `[${stack}]`;
  else {
    const frames = shortenFrames(ctx, error, stringSlice(stack, start + 1));
    stack = `${stringSlice(stack, 0, start)}\n${arrayJoin(frames, "\n")}`;
  }
  if (ctx.indentationLvl === 0) return stack;
  return stringReplaceAll(stack, "\n", `\n${stringRepeat(" ", ctx.indentationLvl)}`);
}
