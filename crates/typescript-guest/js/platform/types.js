// `util.types`: tests of a value's kind.

import native from "codeyard:native";
import { brandOf, isArguments, isBrand, isNamespace } from "./brands.js";
import { bufferByteLength, typedArrayName } from "./primordials.js";

const { proxyTarget } = native;
const { isView } = ArrayBuffer;

export const isProxy = (value) => isObject(value) && proxyTarget(value) !== undefined;

function isObject(value) {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/** An object, no function, whose inside can be looked at. */
function isPlainObject(value) {
  return typeof value === "object" && value !== null && proxyTarget(value) === undefined;
}

const test = (brand) => (value) => isPlainObject(value) && isBrand(value, brand);
const testIterator = (brand) => (value) => isPlainObject(value) && brandOf(value) === brand;
const testView = (name) => (value) => isTypedArray(value) && typedArrayName(value) === name;

export const isMap = test("Map");
export const isSet = test("Set");
export const isPromise = test("Promise");
export const isDate = test("Date");
export const isRegExp = test("RegExp");
export const isNativeError = test("Error");
export const isArrayBuffer = test("ArrayBuffer");
export const isSharedArrayBuffer = test("SharedArrayBuffer");
export const isWeakMap = test("WeakMap");
export const isWeakSet = test("WeakSet");
export const isNumberObject = test("Number");
export const isStringObject = test("String");
export const isBooleanObject = test("Boolean");
export const isSymbolObject = test("Symbol");
export const isBigIntObject = test("BigInt");
export const isMapIterator = testIterator("Map Iterator");
export const isSetIterator = testIterator("Set Iterator");
export const isArgumentsObject = (value) => isPlainObject(value) && isArguments(value);
export const isModuleNamespaceObject = (value) => isPlainObject(value) && isNamespace(value);
export const isArrayBufferView = (value) => isView(value);
export const isTypedArray = (value) => isView(value) && typedArrayName(value) !== undefined;
export const isDataView = (value) => isView(value) && typedArrayName(value) === undefined;
export const isAnyArrayBuffer = (value) => isArrayBuffer(value) || isSharedArrayBuffer(value);

/** Programs never receive external values of the host. */
export const isExternal = () => false;
export const isCryptoKey = () => false;
export const isKeyObject = () => false;

export function isGeneratorObject(value) {
  return testIterator("Generator")(value) || testIterator("AsyncGenerator")(value);
}

export function isBoxedPrimitive(value) {
  return (
    isNumberObject(value) ||
    isStringObject(value) ||
    isBooleanObject(value) ||
    isBigIntObject(value) ||
    isSymbolObject(value)
  );
}

const functionBrand = (value) =>
  typeof value === "function" && !isProxy(value) ? brandOf(value) : undefined;

export function isAsyncFunction(value) {
  const brand = functionBrand(value);
  return brand === "AsyncFunction" || brand === "AsyncGeneratorFunction";
}

export function isGeneratorFunction(value) {
  const brand = functionBrand(value);
  return brand === "GeneratorFunction" || brand === "AsyncGeneratorFunction";
}

/** Whether it is an error of the engine or inherits from `Error`. */
export const isError = (value) => isNativeError(value) || value instanceof Error;

/** Whether a buffer's memory was transferred. */
export function isDetached(buffer) {
  if (buffer.detached !== undefined) return buffer.detached;
  if (bufferByteLength(buffer) !== 0) return false;
  try {
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}

const VIEWS = [
  "Int8Array",
  "Uint8Array",
  "Uint8ClampedArray",
  "Int16Array",
  "Uint16Array",
  "Int32Array",
  "Uint32Array",
  "Float32Array",
  "Float64Array",
  "BigInt64Array",
  "BigUint64Array",
];

export default {
  isExternal,
  isDate,
  isArgumentsObject,
  isBigIntObject,
  isBooleanObject,
  isNumberObject,
  isStringObject,
  isSymbolObject,
  isBoxedPrimitive,
  isNativeError,
  isRegExp,
  isAsyncFunction,
  isGeneratorFunction,
  isGeneratorObject,
  isPromise,
  isMap,
  isSet,
  isMapIterator,
  isSetIterator,
  isWeakMap,
  isWeakSet,
  isArrayBuffer,
  isDataView,
  isSharedArrayBuffer,
  isProxy,
  isModuleNamespaceObject,
  isAnyArrayBuffer,
  isCryptoKey,
  isKeyObject,
  isArrayBufferView,
  isTypedArray,
  ...Object.fromEntries(VIEWS.map((name) => [`is${name}`, testView(name)])),
};
