// `process.emitWarning`: tells the program's listeners of a warning, and prints it.

import native from "codeyard:native";
import { checkString, invalidArgType } from "./errors.js";
import { nextTick } from "./ticks.js";

const { write } = native;
const STANDARD_ERROR = 2;

/** What `process` is; known when the first warning comes. */
let target;

export function setWarningTarget(emitter) {
  target = emitter;
}

/** Reads `(type, code, detail)` or one object with these names. */
function readOptions(type, code) {
  if (typeof type === "function") return {};
  if (typeof type === "object" && type !== null && !Array.isArray(type)) return { ...type };
  if (typeof code === "function") return { type };
  return { type, code };
}

function makeWarning(text, { type = "Warning", code, detail }) {
  checkString(type, "type");
  if (code !== undefined) checkString(code, "code");
  const warning = new Error(text);
  warning.name = type || "Warning";
  if (code !== undefined) warning.code = code;
  if (typeof detail === "string") warning.detail = detail;
  return warning;
}

function print(warning) {
  const code = warning.code ? `[${warning.code}] ` : "";
  const detail = typeof warning.detail === "string" ? `${warning.detail}\n` : "";
  write(STANDARD_ERROR, `(codeyard) ${code}${warning.name}: ${warning.message}\n${detail}`);
}

export function emitWarning(warning, type = undefined, code = undefined) {
  const options = readOptions(type, code);
  let event = warning;
  if (typeof warning === "string") event = makeWarning(warning, options);
  else if (!(warning instanceof Error)) throw invalidArgType("warning", ["Error", "string"], warning);
  if (event.name === "DeprecationWarning" && target.noDeprecation) return;
  nextTick(() => {
    if (!target.noProcessWarnings) print(event);
    target.emit("warning", event);
  });
}
