// Errors of classes: a member on a wrong object, a class that programs cannot make objects of.

import { withCode } from "./errors.js";

/** The error of a member called on an object of another class. */
export function invalidThis(className) {
  return withCode(new TypeError(`Value of "this" must be of type ${className}`), "ERR_INVALID_THIS");
}

/** A class whose objects only the platform makes. */
export function illegalConstructor() {
  return withCode(new TypeError("Illegal constructor"), "ERR_ILLEGAL_CONSTRUCTOR");
}
