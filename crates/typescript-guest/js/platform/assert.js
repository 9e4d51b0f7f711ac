// `node:assert` and `node:assert/strict`.

import { doesNotReject, doesNotThrow, failWith, rejects, throws } from "./assert_throws.js";
import { AssertionError } from "./assertion_error.js";
import { isDeepEqual, isDeepStrictEqual } from "./deep_equal.js";
import { framesOf, setStack } from "./error_stack.js";
import { checkPresent, invalidArgType } from "./errors.js";
import { inspect } from "./inspect.js";
import { regExpExec } from "./primordials.js";
import { isError, isRegExp } from "./types.js";
import { emitWarning } from "./warnings.js";

const { assign, is } = Object;
const isNaN = Number.isNaN;

function checkTruth(assertion, inputs) {
  const [value, message] = inputs;
  if (value) return;
  const isGenerated = message === undefined || message === null;
  if (isError(message)) throw message;
  const given = inputs.length === 0 ? "No value argument passed to `assert.ok()`" : message;
  const about = { actual: value, expected: true, message: given, operator: "==", stackStartFn: assertion };
  throw assign(new AssertionError(about), { generatedMessage: isGenerated });
}

export function ok(...inputs) {
  checkTruth(ok, inputs);
}

const looselyEqual = (a, b) => a == b || (isNaN(a) && isNaN(b));
const not = (test) => (a, b) => !test(a, b);

/** Makes an assertion on two values. */
function comparing(name, operator, test) {
  const assertion = {
    [name](...inputs) {
      checkPresent(inputs.length, "actual", "expected");
      const [actual, expected, message] = inputs;
      if (!test(actual, expected)) failWith({ actual, expected, message, operator, stackStartFn: assertion });
    },
  }[name];
  return assertion;
}

export const equal = comparing("equal", "==", looselyEqual);
export const notEqual = comparing("notEqual", "!=", not(looselyEqual));
export const strictEqual = comparing("strictEqual", "strictEqual", is);
export const notStrictEqual = comparing("notStrictEqual", "notStrictEqual", not(is));
export const deepEqual = comparing("deepEqual", "deepEqual", isDeepEqual);
export const notDeepEqual = comparing("notDeepEqual", "notDeepEqual", not(isDeepEqual));
export const deepStrictEqual = comparing("deepStrictEqual", "deepStrictEqual", isDeepStrictEqual);
export const notDeepStrictEqual = comparing(
  "notDeepStrictEqual",
  "notDeepStrictEqual",
  not(isDeepStrictEqual),
);

let isFailDeprecated = false;

function warnOfFail() {
  if (isFailDeprecated) return;
  isFailDeprecated = true;
  const message =
    "assert.fail() with more than one argument is deprecated. " +
    "Please use assert.strictEqual() instead or only pass a message.";
  emitWarning(message, "DeprecationWarning", "DEP0094");
}

/** Fails with a message; the old arguments are `actual, expected, message, operator`. */
export function fail(...inputs) {
  const [first, expected, oldMessage, operator] = inputs;
  const isBare = (first === undefined || first === null) && inputs.length <= 1;
  let about = { actual: first, expected, message: oldMessage, operator: operator ?? "fail" };
  if (isBare) about = { actual: first, expected: undefined, message: "Failed", operator: "fail" };
  else if (inputs.length === 1)
    about = { actual: undefined, expected: undefined, message: first, operator: "fail" };
  else {
    warnOfFail();
    if (inputs.length === 2) about.operator = "!=";
  }
  if (about.message instanceof Error) throw about.message;
  const error = new AssertionError({ ...about, stackStartFn: inputs[4] || fail });
  if (isBare) error.generatedMessage = true;
  throw error;
}

/** Throws anything that is given, as callbacks give their errors. */
export function ifError(error) {
  if (error === null || error === undefined) return;
  let text = inspect(error);
  if (typeof error === "object" && typeof error.message === "string") {
    text = error.message.length === 0 && error.constructor ? error.constructor.name : error.message;
  }
  const message = `ifError got unwanted exception: ${text}`;
  const failure = new AssertionError({
    actual: error,
    expected: null,
    operator: "ifError",
    message,
    stackStartFn: ifError,
  });
  if (isError(error) && framesOf(error).length > 0) {
    setStack(failure, `${failure.name} [${failure.code}]: ${message}`, error);
  }
  throw failure;
}

function checkMatch(assertion, text, pattern, message, isWanted) {
  if (!isRegExp(pattern)) throw invalidArgType("regexp", "RegExp", pattern);
  const isText = typeof text === "string";
  if (isText && (regExpExec(pattern, text) !== null) === isWanted) return;
  if (message instanceof Error) throw message;
  const start = isWanted ? "The input did not match" : "The input was expected to not match";
  const fault = isText
    ? `${start} the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`
    : `The "string" argument must be of type string. Received type ${typeof text} (${inspect(text)})`;
  const operator = assertion.name;
  const about = {
    actual: text,
    expected: pattern,
    message: message || fault,
    operator,
    stackStartFn: assertion,
  };
  throw assign(new AssertionError(about), { generatedMessage: !message });
}

export function match(text, pattern, message) {
  checkMatch(match, text, pattern, message, true);
}

export function doesNotMatch(text, pattern, message) {
  checkMatch(doesNotMatch, text, pattern, message, false);
}

const assertions = {
  fail,
  AssertionError,
  ok,
  equal,
  notEqual,
  deepEqual,
  notDeepEqual,
  deepStrictEqual,
  notDeepStrictEqual,
  strictEqual,
  notStrictEqual,
  throws,
  rejects,
  doesNotThrow,
  doesNotReject,
  ifError,
  match,
  doesNotMatch,
};

/** The assertions in which `equal` and its like compare strictly. */
export function strict(...inputs) {
  checkTruth(strict, inputs);
}

const assert = assign(ok, assertions);
assign(strict, assertions, {
  equal: strictEqual,
  deepEqual: deepStrictEqual,
  notEqual: notStrictEqual,
  notDeepEqual: notDeepStrictEqual,
  strict,
});
assert.strict = strict;

export { AssertionError, doesNotReject, doesNotThrow, rejects, throws };
export default assert;
