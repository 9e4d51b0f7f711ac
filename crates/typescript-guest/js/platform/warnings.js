// Warns a program's user, through `process` if it exists, else on standard error.

import native from "codeyard:native";

const { write } = native;

/** @param {string | Error} warning @param {string} [type] the name of the warning @param {string} [code] */
export function emitWarning(warning, type = "Warning", code = undefined) {
  const { process } = globalThis;
  if (typeof process?.emitWarning === "function") {
    process.emitWarning(warning, type, code);
    return;
  }
  const name = typeof warning === "string" ? type : warning.name;
  const message = typeof warning === "string" ? warning : warning.message;
  write(2, `(codeyard) ${code === undefined ? "" : `[${code}] `}${name}: ${message}\n`);
}
