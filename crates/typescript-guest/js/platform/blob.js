// `Blob` and `File`: bytes with a type, read through promises.

import { bytesToText, textToBytes } from "./buffer_encodings.js";
import { bytesOf, joinBytes } from "./bytes.js";
import { describeReceived, invalidArgValue, missingArgs, withCode } from "./errors.js";
import { asInterface, hiddenMethod } from "./interface.js";
import { invalidThis } from "./node_error.js";

const INSPECT = Symbol.for("nodejs.util.inspect.custom");

const isObject = (value) => value !== null && typeof value === "object";

function wrongKind(name, expected, value) {
  const message = `The "${name}" argument must be ${expected}. Received ${describeReceived(value)}`;
  return withCode(new TypeError(message), "ERR_INVALID_ARG_TYPE");
}

/** Types are lower case; a type with characters outside printable ASCII is ignored. */
function normalizeType(type) {
  const text = `${type}`;
  return /[^\x20-\x7e]/.test(text) ? "" : text.toLowerCase();
}

/** The bytes of one source: those of a blob, of a buffer or a view (copied), or of a text. */
function sourceBytes(source, endings) {
  if (source instanceof Blob) return bytesIn(source);
  const bytes = bytesOf(source);
  if (bytes !== undefined) return bytes;
  const text = `${source}`;
  return textToBytes(endings === "native" ? text.replaceAll("\r\n", "\n") : text, "utf8");
}

let bytesIn;
let blobOf;

export class Blob {
  #bytes;
  #type;

  constructor(sources = [], options = undefined) {
    if (!isObject(sources) || typeof sources[Symbol.iterator] !== "function") {
      throw wrongKind("sources", "a sequence", sources);
    }
    const chosen = options ?? {};
    if (!isObject(chosen) && typeof chosen !== "function") {
      throw wrongKind("options", "a dictionary", options);
    }
    const { type = "", endings = "transparent" } = chosen;
    if (endings !== "transparent" && endings !== "native") throw invalidArgValue("options.endings", endings);
    this.#bytes = joinBytes(Array.from(sources, (source) => sourceBytes(source, endings)));
    this.#type = normalizeType(type);
  }

  static {
    bytesIn = (blob) => {
      if (!isObject(blob) || !(#bytes in blob)) throw invalidThis("Blob");
      return blob.#bytes;
    };
    blobOf = (bytes, type) => {
      const blob = new Blob();
      blob.#bytes = bytes;
      blob.#type = type;
      return blob;
    };
  }

  get size() {
    return bytesIn(this).length;
  }

  get type() {
    bytesIn(this);
    return this.#type;
  }

  /** A part without a copy; negative positions count from the end. */
  slice(start = 0, end = this.size, type = "") {
    const bytes = bytesIn(this);
    return blobOf(bytes.subarray(start, end), normalizeType(type));
  }

  async arrayBuffer() {
    return bytesIn(this).slice().buffer;
  }

  async bytes() {
    return bytesIn(this).slice();
  }

  async text() {
    const text = bytesToText(bytesIn(this), "utf8");
    return text.startsWith("\ufeff") ? text.slice(1) : text;
  }
}

export class File extends Blob {
  #name;
  #lastModified;

  constructor(fileBits, fileName, options = undefined) {
    if (arguments.length < 2) throw missingArgs("fileBits", "fileName");
    super(fileBits, options);
    const { lastModified } = options ?? {};
    this.#name = `${fileName}`.toWellFormed();
    this.#lastModified = lastModified === undefined ? Date.now() : +lastModified || 0;
  }

  get name() {
    if (!(#name in Object(this))) throw invalidThis("File");
    return this.#name;
  }

  get lastModified() {
    if (!(#name in Object(this))) throw invalidThis("File");
    return this.#lastModified;
  }
}

function inspectBlob(depth, options, inspect) {
  if (typeof depth === "number" && depth < 0) return this;
  return `Blob ${inspect({ size: this.size, type: this.type }, options)}`;
}

function inspectFile(depth, options, inspect) {
  if (typeof depth === "number" && depth < 0) return this;
  const { size, type, name, lastModified } = this;
  return `File ${inspect({ size, type, name, lastModified }, options)}`;
}

asInterface(Blob);
asInterface(File);
hiddenMethod(Blob, INSPECT, inspectBlob);
hiddenMethod(File, INSPECT, inspectFile);
