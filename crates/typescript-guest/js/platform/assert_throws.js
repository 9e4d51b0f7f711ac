// Assertions on errors of functions and rejections of promises.

import { AssertionError } from "./assertion_error.js";
import { isDeepStrictEqual } from "./deep_equal.js";
import { checkFunction, invalidArgType, invalidArgValue, invalidReturnValue, withCode } from "./errors.js";
import { inspect } from "./inspect.js";
import { isPrototypeOf, regExpExec } from "./primordials.js";
import { isError, isPromise, isRegExp } from "./types.js";

const { keys } = Object;
const NOTHING = Symbol("nothing was thrown");

const isObject = (value) => typeof value === "object" && value !== null;

/** Throws the given error, or makes one of the message. */
export function failWith(about) {
  if (about.message instanceof Error) throw about.message;
  throw new AssertionError(about);
}

/** The error that the function throws. */
function thrownBy(operation) {
  checkFunction(operation, "fn");
  try {
    operation();
  } catch (error) {
    return error;
  }
  return NOTHING;
}

/** A promise, or an object that behaves as one; a function with `then` is no promise. */
function looksLikePromise(value) {
  return (
    isPromise(value) ||
    (isObject(value) && typeof value.then === "function" && typeof value.catch === "function")
  );
}

/** The reason of a promise's rejection, or of the promise that a function returns. */
async function rejectionOf(source) {
  let promise = source;
  if (typeof source === "function") {
    promise = source();
    if (!looksLikePromise(promise)) throw invalidReturnValue("instance of Promise", "promiseFn", promise);
  } else if (!looksLikePromise(source)) throw invalidArgType("promiseFn", ["Function", "Promise"], source);
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return NOTHING;
}

function matches(pattern, value) {
  return typeof value === "string" && isRegExp(pattern) && regExpExec(pattern, value) !== null;
}

/** An object that shows in a message which properties were compared. */
class Comparison {
  constructor(source, names, actual) {
    for (const name of names) {
      if (!(name in source)) continue;
      this[name] = actual !== undefined && matches(source[name], actual[name]) ? actual[name] : source[name];
    }
  }
}

function failComparison(actual, expected, names, message, assertion) {
  const operator = assertion.name;
  if (message) failWith({ actual, expected, message, operator, stackStartFn: assertion });
  const error = new AssertionError({
    actual: new Comparison(actual, names),
    expected: new Comparison(expected, names, actual),
    operator: "deepStrictEqual",
    stackStartFn: assertion,
  });
  throw Object.assign(error, { actual, expected, operator });
}

/** Compares the properties that an object or an error lists. */
function checkProperties(actual, expected, message, assertion) {
  const names = keys(expected);
  if (expected instanceof Error) names.push("name", "message");
  else if (names.length === 0) throw invalidArgValue("error", expected, "may not be an empty object");
  for (const name of names) {
    if (matches(expected[name], actual[name])) continue;
    if (!(name in actual) || !isDeepStrictEqual(actual[name], expected[name])) {
      failComparison(actual, expected, names, message, assertion);
    }
  }
}

function describeWrongClass(actual, expected) {
  const start = `The error is expected to be an instance of "${expected.name}". Received `;
  if (!isError(actual)) return `${start}"${inspect(actual, { depth: -1 })}"`;
  const name = actual.constructor?.name || actual.name;
  const received =
    expected.name === name ? "an error with identical name but a different prototype." : `"${name}"`;
  return `${start}${received}${actual.message ? `\n\nError message:\n\n${actual.message}` : ""}`;
}

/** The message about the mismatch of `actual` and `expected`, if any. */
function findFault(actual, expected) {
  if (isRegExp(expected)) {
    const text = String(actual);
    if (regExpExec(expected, text) !== null) return undefined;
    const pattern = inspect(expected);
    return `The input did not match the regular expression ${pattern}. Input:\n\n${inspect(text)}\n`;
  }
  if (expected.prototype !== undefined && actual instanceof expected) return undefined;
  if (isPrototypeOf(Error, expected)) return describeWrongClass(actual, expected);
  const answer = Reflect.apply(expected, {}, [actual]);
  if (answer === true) return undefined;
  const name = expected.name ? `"${expected.name}" ` : "";
  const caught = isError(actual) ? `\n\nCaught error:\n\n${actual}` : "";
  return `The ${name}validation function is expected to return "true". Received ${inspect(answer)}${caught}`;
}

function checkThrown(actual, expected, message, assertion) {
  const operator = assertion.name;
  if (typeof expected !== "function" && !isRegExp(expected)) {
    if (isObject(actual)) {
      checkProperties(actual, expected, message, assertion);
      return;
    }
    const about = { actual, expected, message, operator: "deepStrictEqual", stackStartFn: assertion };
    throw Object.assign(new AssertionError(about), { operator });
  }
  const fault = findFault(actual, expected);
  if (fault === undefined) return;
  const error = new AssertionError({
    actual,
    expected,
    message: message || fault,
    operator,
    stackStartFn: assertion,
  });
  throw Object.assign(error, { generatedMessage: !message });
}

/** A text instead of the expected error is the message, unless it might be the error's own. */
function refuseAmbiguous(actual, text) {
  const isMessage = isObject(actual) ? actual.message === text : actual === text;
  if (!isMessage) return;
  const subject = isObject(actual) ? `error message "${actual.message}"` : `error "${actual}"`;
  const message = `The "error/message" argument is ambiguous. The ${subject} is identical to the message.`;
  throw withCode(new TypeError(message), "ERR_AMBIGUOUS_ARGUMENT");
}

const KINDS = ["Object", "Error", "Function", "RegExp"];

/** Sorts the arguments after the first one: an expected error, a message, or both. */
function readArguments(actual, inputs) {
  const [error, message] = inputs;
  if (typeof error === "string") {
    if (inputs.length > 1) throw invalidArgType("error", KINDS, error);
    refuseAmbiguous(actual, error);
    return { expected: undefined, message: error };
  }
  const isRight =
    error === undefined || error === null || typeof error === "object" || typeof error === "function";
  if (!isRight) throw invalidArgType("error", KINDS, error);
  return { expected: error, message };
}

function expectError(assertion, noun, actual, inputs) {
  const { expected, message } = readArguments(actual, inputs);
  if (actual === NOTHING) {
    const name = expected?.name ? ` (${expected.name})` : "";
    failWith({
      actual: undefined,
      expected,
      operator: assertion.name,
      message: `Missing expected ${noun}${name}${message ? `: ${message}` : "."}`,
      stackStartFn: assertion,
    });
  }
  if (expected) checkThrown(actual, expected, message, assertion);
}

/** Whether an error is among those that must not occur. */
function isUnwanted(actual, expected) {
  if (typeof expected !== "function") {
    if (isRegExp(expected)) return regExpExec(expected, String(actual)) !== null;
    throw invalidArgType("expected", ["Function", "RegExp"], expected);
  }
  if (expected.prototype !== undefined && actual instanceof expected) return true;
  if (isPrototypeOf(Error, expected)) return false;
  return Reflect.apply(expected, {}, [actual]) === true;
}

function expectNoError(assertion, noun, actual, error, message) {
  if (actual === NOTHING) return;
  const isText = typeof error === "string";
  const expected = isText ? undefined : error;
  const details = isText ? error : message;
  if (expected && !isUnwanted(actual, expected)) throw actual;
  const start = `Got unwanted ${noun}${details ? `: ${details}` : "."}`;
  failWith({
    actual,
    expected,
    operator: assertion.name,
    message: `${start}\nActual message: "${actual && actual.message}"`,
    stackStartFn: assertion,
  });
}

export function throws(operation, ...inputs) {
  expectError(throws, "exception", thrownBy(operation), inputs);
}

export async function rejects(source, ...inputs) {
  expectError(rejects, "rejection", await rejectionOf(source), inputs);
}

export function doesNotThrow(operation, ...inputs) {
  expectNoError(doesNotThrow, "exception", thrownBy(operation), ...inputs);
}

export async function doesNotReject(source, ...inputs) {
  expectNoError(doesNotReject, "rejection", await rejectionOf(source), ...inputs);
}
