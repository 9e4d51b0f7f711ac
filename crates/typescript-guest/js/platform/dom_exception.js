// `DOMException`, the error of web interfaces, with its historical numbers.

import { asInterface } from "./interface.js";

const CODES = new Map(
  Object.entries({
    IndexSizeError: 1,
    HierarchyRequestError: 3,
    WrongDocumentError: 4,
    InvalidCharacterError: 5,
    NoModificationAllowedError: 7,
    NotFoundError: 8,
    NotSupportedError: 9,
    InUseAttributeError: 10,
    InvalidStateError: 11,
    SyntaxError: 12,
    InvalidModificationError: 13,
    NamespaceError: 14,
    InvalidAccessError: 15,
    TypeMismatchError: 17,
    SecurityError: 18,
    NetworkError: 19,
    AbortError: 20,
    URLMismatchError: 21,
    QuotaExceededError: 22,
    TimeoutError: 23,
    InvalidNodeTypeError: 24,
    DataCloneError: 25,
  }),
);
const WITHOUT_CLASS = { 2: "DOMSTRING_SIZE_ERR", 6: "NO_DATA_ALLOWED_ERR", 16: "VALIDATION_ERR" };

const IRREGULAR = new Map([
  ["URLMismatchError", "URL_MISMATCH_ERR"],
  ["InUseAttributeError", "INUSE_ATTRIBUTE_ERR"],
]);

/** The name of a number's constant: `InvalidStateError` has `INVALID_STATE_ERR`. */
function constantName(name) {
  if (IRREGULAR.has(name)) return IRREGULAR.get(name);
  const words = name.slice(0, -"Error".length).match(/[A-Z][a-z]+/g);
  return `${words.join("_").toUpperCase()}_ERR`;
}

export class DOMException extends Error {
  #name;

  constructor(message = "", options = "Error") {
    const named = typeof options === "object" && options !== null;
    super(`${message}`);
    this.#name = named ? `${options.name ?? "Error"}` : `${options}`;
    Object.defineProperty(this, "message", { value: `${message}`, configurable: true, writable: true });
    if (named && "cause" in options) {
      Object.defineProperty(this, "cause", { value: options.cause, configurable: true, writable: true });
    }
  }

  get name() {
    return this.#name;
  }

  get code() {
    return CODES.get(this.#name) ?? 0;
  }
}

const constants = { ...WITHOUT_CLASS };
for (const [name, code] of CODES) constants[code] = constantName(name);
for (const [code, name] of Object.entries(constants)) {
  const constant = { value: Number(code), enumerable: true };
  Object.defineProperty(DOMException, name, constant);
  Object.defineProperty(DOMException.prototype, name, constant);
}
asInterface(DOMException);
