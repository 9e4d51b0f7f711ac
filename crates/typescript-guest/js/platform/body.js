// The body of a `Request` or a `Response`: bytes that can be read once, as text, JSON and in other forms.

import native from "codeyard:native";
import { Blob } from "./blob.js";
import { BodyStream } from "./body_stream.js";
import { bytesOf, joinBytes } from "./bytes.js";
import { FormData } from "./form_data.js";
import { decodeForm, encodeForm } from "./multipart.js";
import { URLSearchParams } from "./url_search_params.js";

const { decode, encode } = native;
const EMPTY = new Uint8Array(0);

/** A text without the mark that some files begin with. */
function textOf(bytes) {
  const text = decode(bytes, "utf8", false);
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

async function collect(pieces) {
  const read = [];
  for await (const piece of pieces) {
    const bytes = typeof piece === "string" ? encode(piece, "utf8") : bytesOf(piece);
    if (bytes === undefined) throw new TypeError("Received non-Uint8Array chunk");
    read.push(bytes);
  }
  return joinBytes(read);
}

/** What a body is made of: how to read its bytes, and its type. */
function sourceOf(content) {
  if (content instanceof URLSearchParams) {
    const type = "application/x-www-form-urlencoded;charset=UTF-8";
    return { read: () => encode(content.toString(), "utf8"), type };
  }
  if (content instanceof Blob) {
    return { read: async () => new Uint8Array(await content.arrayBuffer()), type: content.type || null };
  }
  if (content instanceof FormData) return encodeForm(content);
  const bytes = bytesOf(content)?.slice();
  if (bytes !== undefined) return { read: () => bytes, type: null };
  if (typeof content?.[Symbol.asyncIterator] === "function")
    return { read: () => collect(content), type: null };
  const text = `${content}`;
  return { read: () => encode(text, "utf8"), type: "text/plain;charset=UTF-8" };
}

export class Body {
  #read;
  #stream;
  #isUsed = false;
  /** The type that the content gives the message; `null` for none. */
  type;

  /** @param content what a program gave; nothing makes no body */
  constructor(content) {
    const isEmpty = content === undefined || content === null;
    const { read, type } = isEmpty ? { read: undefined, type: null } : sourceOf(content);
    this.#read = read;
    this.type = type;
  }

  get isEmpty() {
    return this.#read === undefined;
  }

  get isUsed() {
    return this.#isUsed;
  }

  get isUnusable() {
    return this.#isUsed || Boolean(this.#stream?.locked);
  }

  /** Another body with the same bytes. */
  copy() {
    const copy = new Body(null);
    if (this.isEmpty) return copy;
    const read = this.#read;
    let bytes;
    const once = () => (bytes ??= read());
    this.#read = once;
    copy.#read = once;
    copy.type = this.type;
    return copy;
  }

  /** The bytes as a stream of one piece; reading from it uses the body. */
  get stream() {
    if (this.isEmpty) return null;
    const pull = () => {
      this.#isUsed = true;
      return this.#read();
    };
    this.#stream ??= new BodyStream(pull);
    return this.#stream;
  }

  async bytes() {
    if (this.isEmpty) return EMPTY;
    if (this.isUnusable) throw new TypeError("Body is unusable: Body has already been read");
    this.#isUsed = true;
    return (await this.#read()).slice();
  }

  async text() {
    return textOf(await this.bytes());
  }

  async json() {
    return JSON.parse(await this.text());
  }

  /** @param {string | null} type the type of the whole message */
  async blob(type) {
    return new Blob([await this.bytes()], { type: type ?? "" });
  }

  async formData(type) {
    const form = new FormData();
    for (const [name, value] of decodeForm(await this.bytes(), type)) form.append(name, value);
    return form;
  }
}
