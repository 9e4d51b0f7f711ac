// The machine's functions for the runtime, on a separate engine.
import { AsyncLocalStorage } from "node:async_hooks";
import { Buffer } from "node:buffer";
import { send } from "./lines.js";

const { from } = Buffer;
const { toString } = Buffer.prototype;
const { apply } = Reflect;

/** The run to which code belongs, even after an await. */
const runs = new AsyncLocalStorage();

let current;
let literal;

/** Calls `work` as part of a run, which is the current one from now on. */
export function within(run, work) {
  current = run;
  return runs.run(run, work);
}

/** JSON of the text under way, where that is a list or dict in Python's notation. */
export function setLiteral(json) {
  literal = json;
}

/** Calls that the host has not answered yet. */
export const flying = { __proto__: null, count: 0 };

export default {
  __proto__: null,

  call(id, name, args) {
    if (runs.getStore() !== current) throw new Error("the run that makes this call has ended");
    flying.count += 1;
    send({ __proto__: null, t: "call", id, name, args });
  },

  pythonLiteral: () => literal,

  decode: (bytes, encoding) => apply(toString, from(bytes.buffer, bytes.byteOffset, bytes.byteLength), [encoding]),

  encode: (text, encoding) => from(text, encoding),

  forgetAfterJobs() {},
};
