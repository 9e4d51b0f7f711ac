// What the runtime asks of the machine, on an engine that is a process.
import { Buffer } from "node:buffer";
import { send } from "./lines.js";

const { from } = Buffer;
const { toString } = Buffer.prototype;
const { apply } = Reflect;

let literal;

/** JSON of the text under way, where that is a list or dict in Python's notation. */
export function setLiteral(json) {
  literal = json;
}

/** Calls that the host has not answered yet. */
export const flying = { __proto__: null, count: 0 };

export default {
  __proto__: null,

  call(id, name, args) {
    flying.count += 1;
    send({ __proto__: null, t: "call", id, name, args });
  },

  pythonLiteral: () => literal,

  decode: (bytes, encoding) => apply(toString, from(bytes.buffer, bytes.byteOffset, bytes.byteLength), [encoding]),

  encode: (text, encoding) => from(text, encoding),

  forgetAfterJobs() {},
};
