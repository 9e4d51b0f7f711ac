// Cases that are one expression each; values without JSON become text.

/** Converts a Buffer to hexadecimal text, and numbers without JSON to text. */
export const SHOW = `
  const plain = (v) => (Buffer.isBuffer(v) ? "<" + v.toString("hex") + ">"
  : typeof v === "bigint" ? v + "n"
  : typeof v === "number" && (!Number.isFinite(v) || Object.is(v, -0)) ? (Object.is(v, -0) ? "-0" : String(v))
  : v instanceof Uint8Array ? [...v] : Array.isArray(v) ? v.map(plain) : v);
  const b = require("node:buffer");`;

/** A case that answers with an expression, after some preparation. */
export const one = (before, expression) => ({
  name: expression.trim().replace(/\s*\n\s*/g, " "),
  code: `${SHOW}${before}return plain(${expression});`,
});
