// The machine's functions, with additions that are easier in this language.

const native = globalThis.__codeyard_native;
delete globalThis.__codeyard_native;

const { apply } = Reflect;
const { defineProperty, keys } = Object;
const ErrorOf = Error;
const { isWellFormed, toWellFormed, charCodeAt } = String.prototype;
const { encode } = native;
const Bytes = Uint8Array;

/** Texts may hold lone surrogates, which UTF-8 replaces and the other encodings keep. */
native.encode = (text, encoding) => {
  if (apply(isWellFormed, text, [])) return encode(text, encoding);
  if (encoding !== "utf16le" && encoding !== "latin1" && encoding !== "ascii") {
    return encode(apply(toWellFormed, text, []), encoding);
  }
  const width = encoding === "utf16le" ? 2 : 1;
  const bytes = new Bytes(text.length * width);
  for (let index = 0; index < text.length; index++) {
    const unit = apply(charCodeAt, text, [index]);
    bytes[index * width] = unit;
    if (width === 2) bytes[index * width + 1] = unit >> 8;
  }
  return bytes;
};

const { decode } = native;
const { fromCharCode } = String;

/** Lone surrogates of UTF-16 stay in a text. */
native.decode = (bytes, encoding, fatal) => {
  const text = decode(bytes, encoding, fatal);
  if (text !== undefined || fatal || encoding !== "utf16le") return text;
  let units = "";
  for (let index = 0; index + 1 < bytes.length; index += 2) units += fromCharCode(bytes[index] | (bytes[index + 1] << 8));
  return units;
};

const { write } = native;
native.write = (stream, text) => write(stream, apply(toWellFormed, text, []));

/** Reverses the bytes of each group of `size` in place. */
const { set } = Bytes.prototype;
native.swap = (bytes, size) => apply(set, bytes, [native.swapped(bytes, size)]);

/** The platform registers one callback for timers. */
native.onTimer = (fire) => {
  native.fireTimer = fire;
};

/** Work to do when no job is left, in a list that programs cannot reach. */
let waiting = { __proto__: null, length: 0 };
native.afterJobs = (job) => {
  waiting[waiting.length++] = job;
  native.noteAfterJobs();
};

/** Drops work left by an earlier program. */
native.forgetAfterJobs = () => {
  waiting = { __proto__: null, length: 0 };
};

/** Does that work; returns whether there was any. */
native.runAfterJobs = () => {
  const jobs = waiting;
  waiting = { __proto__: null, length: 0 };
  for (let index = 0; index < jobs.length; index++) jobs[index]();
  return jobs.length > 0;
};

/** Ends the program; the engine notices in the loop. */
const { exit } = native;
native.exit = (status) => {
  exit(status);
  for (;;);
};

// Texts and bytes are copied on their way to a function of the machine. Where no memory is left for the copies, the
// program gets an error.
const LARGE = 1 << 20;
const LONGEST_PATH = 1 << 13;

function guard(owner, name, factor) {
  const call = owner[name];
  owner[name] = (...inputs) => {
    let length = 0;
    for (let index = 0; index < inputs.length; index++) length += sizeOf(inputs[index]);
    if (length > LARGE) native.reserve(length * factor);
    return apply(call, undefined, inputs);
  };
}

function sizeOf(input) {
  if (typeof input === "number") return 0;
  return typeof input?.length === "number" ? input.length : 0;
}

for (const name of ["encode", "decode", "write", "pythonLiteral", "formParse", "formSerialize", "call"]) guard(native, name, 6);
for (const name of ["digest", "hmac", "indexOf", "compare", "swapped", "urlParse", "urlSet"]) guard(native, name, 3);

const { random } = native;
native.random = (count) => {
  if (count > LARGE) native.reserve(count * 2);
  return random(count);
};

// Every text that these functions take is a path. Where nothing is mounted at a documented path, it leads elsewhere.
const { actualPath, changeDirectory } = native;
if (actualPath) native.changeDirectory = (path) => changeDirectory(actualPath(path));

for (const name of keys(native.fs)) {
  const call = native.fs[name];
  native.fs[name] = (...inputs) => {
    for (let index = 0; index < inputs.length; index++) {
      if (typeof inputs[index] === "string" && inputs[index].length > LONGEST_PATH) throw tooLong();
      if (actualPath && typeof inputs[index] === "string") inputs[index] = actualPath(inputs[index]);
      if (sizeOf(inputs[index]) > LARGE) native.reserve(inputs[index].length * 2);
    }
    return apply(call, undefined, inputs);
  };
}

function tooLong() {
  const error = new ErrorOf("ENAMETOOLONG");
  for (const [name, value] of [["code", "ENAMETOOLONG"], ["errno", -36], ["syscall", "open"]]) {
    defineProperty(error, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  }
  return error;
}

export default native;
