// `AbortError`, which operations throw when their signal aborts, and the check of such signals.

import { invalidArgType } from "./errors.js";

export class AbortError extends Error {
  constructor(message = "The operation was aborted", options = undefined) {
    super(message, options);
    this.code = "ABORT_ERR";
    this.name = "AbortError";
  }
}

/** The error of a signal that aborted. */
export const abortOf = (signal) => new AbortError(undefined, { cause: signal?.reason });

/** Accepts `undefined` and whatever behaves as an `AbortSignal`. */
export function checkSignal(value, name) {
  if (value === undefined) return;
  if (value === null || typeof value !== "object" || !("aborted" in value)) {
    throw invalidArgType(name, "AbortSignal", value);
  }
}
