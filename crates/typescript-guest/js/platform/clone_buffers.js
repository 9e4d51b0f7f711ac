// Copies buffers and their views for `structuredClone`, and moves those buffers that are transferred.

import { isBrand } from "./brands.js";
import { dataCloneError } from "./clone_failure.js";
import { withCode } from "./errors.js";
import {
  append,
  bufferByteLength,
  dataViewBuffer,
  typedArrayBuffer,
  typedArrayLength,
  uncurry,
} from "./primordials.js";
import { isDetached, isProxy } from "./types.js";

const { getOwnPropertyDescriptor } = Object;
const { iterator } = Symbol;
const TypedArray = Object.getPrototypeOf(Uint8Array);
const sliceBuffer = uncurry(ArrayBuffer.prototype.slice);
const transferBuffer = uncurry(ArrayBuffer.prototype.transfer);
const setBytes = uncurry(Uint8Array.prototype.set);
const getter = (Class, key) => uncurry(getOwnPropertyDescriptor(Class.prototype, key).get);
const viewOffset = getter(TypedArray, "byteOffset");
const dataViewOffset = getter(DataView, "byteOffset");
const dataViewLength = getter(DataView, "byteLength");

const views = new Map(
  Object.getOwnPropertyNames(globalThis)
    .filter(
      (name) =>
        typeof globalThis[name] === "function" && Object.getPrototypeOf(globalThis[name]) === TypedArray,
    )
    .map((name) => [name, globalThis[name]]),
);
const viewClass = views.get.bind(views);

function refuseTransferred(message) {
  throw withCode(new TypeError(message), "ERR_INVALID_ARG_TYPE");
}

/** The buffers to move, each once. */
export function readTransferList(options) {
  const transfers = [];
  if (options === undefined || options === null) return transfers;
  if (typeof options !== "object")
    refuseTransferred("The options argument must be either an object or undefined");
  const { transfer } = options;
  if (transfer === undefined || transfer === null) return transfers;
  if (typeof transfer !== "object" || typeof transfer[iterator] !== "function") {
    refuseTransferred("Optional transferList argument must be an iterable");
  }
  const known = new Set();
  for (const buffer of transfer) {
    if (!isTransferable(buffer)) {
      throw withCode(new TypeError("Found invalid object in transferList"), "ERR_INVALID_TRANSFER_OBJECT");
    }
    if (known.has(buffer)) throw dataCloneError("Transfer list contains duplicate ArrayBuffer");
    known.add(buffer);
    append(transfers, buffer);
  }
  return transfers;
}

function isTransferable(value) {
  return typeof value === "object" && value !== null && !isProxy(value) && isBrand(value, "ArrayBuffer");
}

/** Takes the memory from buffers that were copied, so that they are empty. */
export function detachAll(buffers) {
  for (let index = 0; index < buffers.length; index++) {
    if (!isDetached(buffers[index])) transferBuffer(buffers[index]);
  }
}

function copyBytes(buffer) {
  if (!buffer.resizable) return sliceBuffer(buffer, 0);
  const copy = new ArrayBuffer(bufferByteLength(buffer), { maxByteLength: buffer.maxByteLength });
  setBytes(new Uint8Array(copy), new Uint8Array(buffer));
  return copy;
}

export function copyBuffer(buffer) {
  if (isDetached(buffer)) throw dataCloneError("An ArrayBuffer is detached and could not be cloned.");
  return copyBytes(buffer);
}

/** Copies a view; `copyOf` gives the copy of its buffer, which several views may share. */
export function copyView(view, brand, copyOf) {
  if (brand === "DataView") {
    return new DataView(copyOf(dataViewBuffer(view)), dataViewOffset(view), dataViewLength(view));
  }
  const View = viewClass(brand);
  return new View(copyOf(typedArrayBuffer(view)), viewOffset(view), typedArrayLength(view));
}
