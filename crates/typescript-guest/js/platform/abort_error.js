// The error of operations whose signal aborts, and the check of such signals.

import { AbortError } from "./errors.js";

export { checkAbortSignal as checkSignal } from "./errors.js";

/** The error of a signal that aborted. */
export const abortOf = (signal) => new AbortError(undefined, { cause: signal?.reason });
