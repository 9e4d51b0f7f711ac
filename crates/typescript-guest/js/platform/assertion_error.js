// `AssertionError`, with messages that show the values.

import { describeDifference, HEADINGS, printFully, shortenLines } from "./assert_diff.js";
import { setStack } from "./error_stack.js";
import { checkObject } from "./errors.js";
import { inspect } from "./inspect.js";

const { assign, create, defineProperty, getPrototypeOf } = Object;
const { captureStackTrace } = Error;
const LONGEST_VALUE = 512;
const LONGEST_SAME = 1024;
const LINES_OF_TEXT = 10;

const isObject = (value) => typeof value === "object" && value !== null;
const shorten = (text, length) => (text.length > length ? `${text.slice(0, length - 3)}...` : text);
const hasStack = (value) => isObject(value) && "stack" in value && value instanceof Error;

/** A copy of an error without its stack, which is no part of a comparison. */
function withoutStack(error) {
  const copy = assign(create(getPrototypeOf(error)), error);
  return defineProperty(copy, "message", { value: error.message });
}

/** For values that should not be equal: shows one of them. */
function describeUnequal(actual, operator) {
  const isReference = operator === "notStrictEqual" && (isObject(actual) || typeof actual === "function");
  const heading = HEADINGS[isReference ? "notStrictEqualObject" : operator];
  const lines = shortenLines(printFully(actual).split("\n"));
  if (lines.length > 1) return `${heading}\n\n${lines.join("\n")}\n`;
  return `${heading}${lines[0].length > 5 ? "\n\n" : " "}${lines[0]}`;
}

/** Both values with the operator between them. */
function describeOther(actual, expected, operator) {
  const whole = printFully(actual);
  const wholeOther = printFully(expected);
  if (operator === "notDeepEqual" && whole === wholeOther) {
    return shorten(`${HEADINGS.notDeepEqual}\n\n${whole}`, LONGEST_SAME);
  }
  const text = shorten(whole, LONGEST_VALUE);
  const other = shorten(wholeOther, LONGEST_VALUE);
  if (operator === "deepEqual") {
    return `${HEADINGS.deepEqual}\n\n${text}\n\nshould loosely deep-equal\n\n${other}`;
  }
  if (operator === "notDeepEqual") {
    return `${HEADINGS.notDeepEqualUnequal}\n\n${text}\n\nshould not loosely deep-equal\n\n${other}`;
  }
  return `${text} ${operator} ${other}`;
}

/** The values to show; two errors count without their stacks. */
function valuesOf({ actual, expected, message }) {
  const isGenerated = message === undefined || message === null;
  if (!isGenerated || !hasStack(actual) || !hasStack(expected)) return { actual, expected };
  return { actual: withoutStack(actual), expected: withoutStack(expected) };
}

function makeMessage({ actual, expected }, operator, message) {
  if (operator === "deepStrictEqual" || operator === "strictEqual") {
    return describeDifference(actual, expected, operator, message);
  }
  if (message !== undefined && message !== null) return String(message);
  if (operator === "notDeepStrictEqual" || operator === "notStrictEqual")
    return describeUnequal(actual, operator);
  return describeOther(actual, expected, operator);
}

/** Texts of many lines are cut where the error itself is printed. */
function addEllipsis(value) {
  if (typeof value !== "string") return value;
  const lines = value.split("\n", LINES_OF_TEXT + 1);
  if (lines.length > LINES_OF_TEXT) return `${lines.slice(0, LINES_OF_TEXT).join("\n")}\n...`;
  return value.length > LONGEST_VALUE ? `${value.slice(LONGEST_VALUE)}...` : value;
}

export class AssertionError extends Error {
  constructor(options) {
    checkObject(options, "options");
    const { message, operator, stackStartFn } = options;
    const values = valuesOf(options);
    super(makeMessage(values, operator, message));
    this.generatedMessage = !message;
    defineProperty(this, "name", { value: "AssertionError", writable: true, configurable: true });
    this.code = "ERR_ASSERTION";
    this.actual = values.actual;
    this.expected = values.expected;
    this.operator = operator;
    if (captureStackTrace !== undefined) captureStackTrace(this, stackStartFn);
    setStack(this, `${this.name} [${this.code}]: ${this.message}`);
  }

  toString() {
    return `${this.name} [${this.code}]: ${this.message}`;
  }

  [inspect.custom](depth, options) {
    const { actual, expected } = this;
    this.actual = addEllipsis(actual);
    this.expected = addEllipsis(expected);
    const printed = inspect(this, { ...options, customInspect: false, depth: 0 });
    this.actual = actual;
    this.expected = expected;
    return printed;
  }
}
