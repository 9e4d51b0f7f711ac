// Prints primitive values: strings in quotes, numbers, symbols.

import {
  append,
  arrayJoin,
  numberToString,
  regExpExec,
  regExpReplace,
  stringCharCodeAt,
  stringIncludes,
  stringIndexOf,
  stringRepeat,
  stringSlice,
  symbolToString,
} from "./primordials.js";

const { is } = Object;
const { isFinite, isInteger } = Number;
const SHORTEST_TO_BREAK = 16;
const GROUP = 3;

/** Controls, the backslash, halves of surrogate pairs; and, where it must be escaped, the single quote. */
const SPECIAL =
  "\\x00-\\x1f\\x5c\\x7f-\\x9f]" +
  "|[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]";
const UNSAFE = new RegExp(`[${SPECIAL}`);
const ALL_UNSAFE = new RegExp(`[${SPECIAL}`, "g");
const UNSAFE_OR_QUOTE = new RegExp(`['${SPECIAL}`);
const ALL_UNSAFE_OR_QUOTES = new RegExp(`['${SPECIAL}`, "g");
const SHORT_ESCAPES = new Map([
  ["\b", "\\b"],
  ["\t", "\\t"],
  ["\n", "\\n"],
  ["\f", "\\f"],
  ["\r", "\\r"],
  ["'", "\\'"],
  ["\\", "\\\\"],
]);
const escapes = new Map();

/** Two upper-case digits for a control, four lower-case ones for half of a surrogate pair. */
function makeEscape(char) {
  const code = stringCharCodeAt(char, 0);
  const digits = numberToString(code, 16);
  if (code > 0xff) return `\\u${digits}`;
  return `\\x${code < 16 ? "0" : ""}${digits.toUpperCase()}`;
}

for (let code = 0; code < 0xa0; code++) {
  const char = String.fromCharCode(code);
  escapes.set(char, SHORT_ESCAPES.get(char) ?? makeEscape(char));
}
const escapeOf = escapes.get.bind(escapes);
const escapeChar = (char) => escapeOf(char) ?? makeEscape(char);

/** Escapes what would break a line or a pair of single quotes. */
export function escapeAll(text) {
  return regExpExec(UNSAFE_OR_QUOTE, text) === null
    ? text
    : regExpReplace(ALL_UNSAFE_OR_QUOTES, text, escapeChar);
}

/** Writes a string in the first quotes of '', "" and `` that need no escape in it, else in ''. */
export function quote(text) {
  let mark = "'";
  if (stringIncludes(text, "'")) {
    if (!stringIncludes(text, '"')) mark = '"';
    else if (!stringIncludes(text, "`") && !stringIncludes(text, "${")) mark = "`";
  }
  if (mark === "'") return `'${escapeAll(text)}'`;
  const escaped = regExpExec(UNSAFE, text) === null ? text : regExpReplace(ALL_UNSAFE, text, escapeChar);
  return `${mark}${escaped}${mark}`;
}

/** Splits after each line's end. */
function linesOf(text) {
  const lines = [];
  let start = 0;
  for (let end = stringIndexOf(text, "\n"); end !== -1; end = stringIndexOf(text, "\n", start)) {
    append(lines, stringSlice(text, start, end + 1));
    start = end + 1;
  }
  if (start < text.length) append(lines, stringSlice(text, start));
  return lines;
}

function printString(ctx, stylize, text) {
  const hidden = text.length - ctx.maxStringLength;
  const shown = hidden > 0 ? stringSlice(text, 0, ctx.maxStringLength) : text;
  const trailer = hidden > 0 ? `... ${hidden} more character${hidden > 1 ? "s" : ""}` : "";
  const width = ctx.breakLength - ctx.indentationLvl - 4;
  const isLong = shown.length > SHORTEST_TO_BREAK && shown.length > width;
  if (ctx.compact === true || !isLong || !stringIncludes(shown, "\n")) {
    return stylize(quote(shown), "string") + trailer;
  }
  const lines = linesOf(shown);
  for (let index = 0; index < lines.length; index++) lines[index] = stylize(quote(lines[index]), "string");
  return arrayJoin(lines, ` +\n${stringRepeat(" ", ctx.indentationLvl + 2)}`) + trailer;
}

/** Groups the digits of an integer from its end: `1_234_567`. */
function separateInteger(digits) {
  const first = digits[0] === "-" ? 1 : 0;
  let end = digits.length;
  let groups = "";
  for (; end >= first + GROUP + 1; end -= GROUP)
    groups = `_${stringSlice(digits, end - GROUP, end)}${groups}`;
  return stringSlice(digits, 0, end) + groups;
}

/** Groups the digits after the point from its start: `123_456_7`. */
function separateFraction(digits) {
  let groups = "";
  let start = 0;
  for (; start < digits.length - GROUP; start += GROUP)
    groups += `${stringSlice(digits, start, start + GROUP)}_`;
  return groups + stringSlice(digits, start);
}

function separateNumber(number, digits) {
  if (!isFinite(number) || (isInteger(number) && stringIncludes(digits, "e"))) return digits;
  if (isInteger(number)) return separateInteger(digits);
  const point = stringIndexOf(digits, ".");
  const whole = stringSlice(digits, 0, point);
  return `${separateInteger(whole)}.${separateFraction(stringSlice(digits, point + 1))}`;
}

export function printNumber(stylize, number, separator) {
  if (separator) return stylize(separateNumber(number, `${number}`), "number");
  return stylize(is(number, -0) ? "-0" : `${number}`, "number");
}

export function printBigInt(stylize, bigint, separator) {
  const digits = `${bigint}`;
  return stylize(`${separator ? separateInteger(digits) : digits}n`, "bigint");
}

/** Prints a value that is no object and no function. */
export function printPrimitive(ctx, stylize, value) {
  switch (typeof value) {
    case "string":
      return printString(ctx, stylize, value);
    case "number":
      return printNumber(stylize, value, ctx.numericSeparator);
    case "bigint":
      return printBigInt(stylize, value, ctx.numericSeparator);
    case "boolean":
      return stylize(value ? "true" : "false", "boolean");
    case "undefined":
      return stylize("undefined", "undefined");
    default:
      return stylize(symbolToString(value), "symbol");
  }
}
