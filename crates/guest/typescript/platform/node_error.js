// Errors that have one of Node's codes.

/** Gives an error its code, which Node also shows when the error becomes text. */
export function withCode(error, code) {
  error.code = code;
  const value = function toString() {
    return `${this.name} [${code}]: ${this.message}`;
  };
  Object.defineProperty(error, "toString", { value, writable: true, configurable: true });
  return error;
}

/** A member that was called on something else than an object of its class. */
export function invalidThis(className) {
  return withCode(new TypeError(`Value of "this" must be of type ${className}`), "ERR_INVALID_THIS");
}

/** A class whose objects only the platform makes. */
export function illegalConstructor() {
  return withCode(new TypeError("Illegal constructor"), "ERR_ILLEGAL_CONSTRUCTOR");
}
