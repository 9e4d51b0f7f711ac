// `process.stdout`, `process.stderr` and `process.stdin`.

import native from "codeyard:native";
import { Buffer } from "./buffer.js";
import { checkString, invalidArgType, withCode } from "./errors.js";
import { EventEmitter } from "./events.js";
import { StringDecoder } from "./string_decoder.js";
import { nextTick } from "./ticks.js";

const { write: writeOut } = native;
const VIEWS = ["string", "Buffer", "TypedArray", "DataView"];

/** An output of the program. What is written to it is out when `write` returns. */
class Output extends EventEmitter {
  #decoder = new StringDecoder("utf8");
  fd;
  writable = true;
  writableEnded = false;
  writableLength = 0;
  writableHighWaterMark = 16384;

  constructor(fd) {
    super();
    this.fd = fd;
  }

  /** Takes `(chunk, encoding, callback)`, where the encoding may be left out. */
  write(chunk, encoding = undefined, callback = undefined) {
    const done = typeof encoding === "function" ? encoding : callback;
    if (chunk === null)
      throw withCode(new TypeError("May not write null values to stream"), "ERR_STREAM_NULL_VALUES");
    writeOut(this.fd, this.#read(chunk, typeof encoding === "string" ? encoding : "utf8"));
    if (typeof done === "function") nextTick(done, null);
    return true;
  }

  #read(chunk, encoding) {
    if (typeof chunk !== "string" && !ArrayBuffer.isView(chunk)) throw invalidArgType("chunk", VIEWS, chunk);
    if (typeof chunk !== "string") return this.#decoder.write(chunk);
    if (!Buffer.isEncoding(encoding)) {
      throw withCode(new TypeError(`Unknown encoding: ${encoding}`), "ERR_UNKNOWN_ENCODING");
    }
    return new StringDecoder(encoding).encoding === "utf8"
      ? chunk
      : this.#decoder.write(Buffer.from(chunk, encoding));
  }

  end(chunk = undefined, encoding = undefined, callback = undefined) {
    const done = [chunk, encoding, callback].find((value) => typeof value === "function");
    if (chunk !== undefined && chunk !== null && typeof chunk !== "function") this.write(chunk, encoding);
    if (done !== undefined) nextTick(done);
    return this;
  }

  cork() {}

  uncork() {}

  setDefaultEncoding(encoding) {
    checkString(encoding, "encoding");
    return this;
  }
}

/** The program's input, which is at its end from the start. */
class Input extends EventEmitter {
  fd = 0;
  readable = true;
  #hasEnded = false;

  on(name, listener) {
    super.on(name, listener);
    if (name === "data" || name === "end" || name === "readable") this.#end();
    return this;
  }

  #end() {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    nextTick(() => {
      this.readable = false;
      this.emit("readable");
      this.emit("end");
      this.emit("close");
    });
  }

  setEncoding(encoding) {
    checkString(encoding, "encoding");
    return this;
  }

  read() {
    return null;
  }

  resume() {
    this.#end();
    return this;
  }

  pause() {
    return this;
  }

  ref() {
    return this;
  }

  unref() {
    return this;
  }

  pipe(destination) {
    this.#end();
    return destination;
  }

  async *[Symbol.asyncIterator]() {}
}

Input.prototype.addListener = Input.prototype.on;

export const stdout = new Output(1);
export const stderr = new Output(2);
export const stdin = new Input();
