// `ReadableStream`, as far as bodies need it: one piece, read through a reader or an iteration.

import { asInterface } from "./interface.js";
import { showFields } from "./web_inspect.js";

/** Reads a stream that it locks for itself. */
class Reader {
  #stream;
  #take;
  #release;
  #close;
  #closed = new Promise((resolve) => (this.#close = resolve));

  constructor(stream, take, release) {
    this.#stream = stream;
    this.#take = take;
    this.#release = release;
  }

  get closed() {
    return this.#closed;
  }

  async read() {
    if (this.#stream === undefined) throw new TypeError("The reader is not attached to a stream");
    const value = await this.#take();
    if (value !== undefined) return { value, done: false };
    this.#close();
    return { value: undefined, done: true };
  }

  async cancel() {
    while (!(await this.read()).done);
  }

  releaseLock() {
    if (this.#stream === undefined) return;
    this.#stream = undefined;
    this.#release();
  }
}

Object.defineProperty(Reader, "name", { value: "ReadableStreamDefaultReader" });
asInterface(Reader);

export class BodyStream {
  #pull;
  #isLocked = false;

  /** @param pull returns the bytes, or a promise of them */
  constructor(pull) {
    this.#pull = pull;
  }

  get locked() {
    return this.#isLocked;
  }

  async #take() {
    const pull = this.#pull;
    this.#pull = undefined;
    const bytes = await pull?.();
    return bytes?.length > 0 ? bytes.slice() : undefined;
  }

  getReader() {
    if (this.#isLocked) throw new TypeError("Invalid state: ReadableStream is locked");
    this.#isLocked = true;
    return new Reader(
      this,
      () => this.#take(),
      () => (this.#isLocked = false),
    );
  }

  async cancel() {
    if (this.#isLocked) throw new TypeError("Invalid state: ReadableStream is locked");
    await this.#take();
  }

  async *values() {
    const reader = this.getReader();
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
    } finally {
      reader.releaseLock();
    }
  }

  [Symbol.asyncIterator]() {
    return this.values();
  }
}

Object.defineProperty(BodyStream, "name", { value: "ReadableStream" });
asInterface(BodyStream, "ReadableStream");
showFields(BodyStream, ({ locked }) => ({ locked, state: "readable", supportsBYOB: true }));
