// `DOMException`, the error of web interfaces.

import { setStack } from "./error_stack.js";
import { withCode } from "./errors.js";

const { captureStackTrace } = Error;
const { defineProperties, defineProperty, setPrototypeOf } = Object;

/** Names of exceptions and their constants, numbered from 1. */
const NAMES = [
  ["IndexSizeError", "INDEX_SIZE_ERR"],
  ["DOMStringSizeError", "DOMSTRING_SIZE_ERR"],
  ["HierarchyRequestError", "HIERARCHY_REQUEST_ERR"],
  ["WrongDocumentError", "WRONG_DOCUMENT_ERR"],
  ["InvalidCharacterError", "INVALID_CHARACTER_ERR"],
  ["NoDataAllowedError", "NO_DATA_ALLOWED_ERR"],
  ["NoModificationAllowedError", "NO_MODIFICATION_ALLOWED_ERR"],
  ["NotFoundError", "NOT_FOUND_ERR"],
  ["NotSupportedError", "NOT_SUPPORTED_ERR"],
  ["InUseAttributeError", "INUSE_ATTRIBUTE_ERR"],
  ["InvalidStateError", "INVALID_STATE_ERR"],
  ["SyntaxError", "SYNTAX_ERR"],
  ["InvalidModificationError", "INVALID_MODIFICATION_ERR"],
  ["NamespaceError", "NAMESPACE_ERR"],
  ["InvalidAccessError", "INVALID_ACCESS_ERR"],
  ["ValidationError", "VALIDATION_ERR"],
  ["TypeMismatchError", "TYPE_MISMATCH_ERR"],
  ["SecurityError", "SECURITY_ERR"],
  ["NetworkError", "NETWORK_ERR"],
  ["AbortError", "ABORT_ERR"],
  ["URLMismatchError", "URL_MISMATCH_ERR"],
  ["QuotaExceededError", "QUOTA_EXCEEDED_ERR"],
  ["TimeoutError", "TIMEOUT_ERR"],
  ["InvalidNodeTypeError", "INVALID_NODE_TYPE_ERR"],
  ["DataCloneError", "DATA_CLONE_ERR"],
];
/** These names have a constant, but their exceptions no longer have a number. */
const RETIRED = new Set(["DOMStringSizeError", "NoDataAllowedError", "ValidationError"]);

const numbers = new Map();
const numberOf = numbers.get.bind(numbers);

function invalidThis() {
  return withCode(new TypeError('Value of "this" must be of DOMException'), "ERR_INVALID_THIS");
}

export class DOMException {
  #message;
  #name;

  /** @param options the name, or an object with `name` and `cause` */
  constructor(message = "", options = "Error") {
    const isObject = typeof options === "object" && options !== null;
    this.#message = `${message}`;
    this.#name = isObject ? `${options.name}` : `${options}`;
    if (isObject && "cause" in options) {
      defineProperty(this, "cause", { value: options.cause, writable: true, configurable: true });
    }
    const holder = new Error("");
    if (captureStackTrace !== undefined) captureStackTrace(holder, new.target);
    setStack(this, this.#message === "" ? this.#name : `${this.#name}: ${this.#message}`, holder);
  }

  get name() {
    if (!(#name in this)) throw invalidThis();
    return this.#name;
  }

  get message() {
    if (!(#name in this)) throw invalidThis();
    return this.#message;
  }

  get code() {
    if (!(#name in this)) throw invalidThis();
    return numberOf(this.#name) ?? 0;
  }
}

setPrototypeOf(DOMException.prototype, Error.prototype);
defineProperties(DOMException.prototype, {
  [Symbol.toStringTag]: { value: "DOMException", configurable: true },
  name: { enumerable: true },
  message: { enumerable: true },
  code: { enumerable: true },
});
NAMES.forEach(([name, constant], index) => {
  const number = { value: index + 1, enumerable: true };
  defineProperty(DOMException, constant, number);
  defineProperty(DOMException.prototype, constant, number);
  if (!RETIRED.has(name)) numbers.set(name, index + 1);
});
