// Prints functions and classes by their kind and name.

import {
  functionToString,
  hasOwn,
  stringIncludes,
  stringIndexOf,
  stringSlice,
  stringStartsWith,
} from "./primordials.js";

const { getPrototypeOf } = Object;
const WHITE_SPACE = " \t\r\n";

/** The text up to the first brace, without comments; undefined if there is no brace. */
function headOf(source) {
  let head = "";
  let start = 0;
  while (true) {
    const brace = stringIndexOf(source, "{", start);
    const slash = stringIndexOf(source, "/", start);
    if (slash === -1 || brace < slash)
      return brace === -1 ? undefined : head + stringSlice(source, start, brace);
    head += stringSlice(source, start, slash);
    const isLine = source[slash + 1] === "/";
    const end = stringIndexOf(source, isLine ? "\n" : "*/", slash + 2);
    if (end === -1) return undefined;
    start = end + (isLine ? 1 : 2);
  }
}

/** Whether the source text is that of a class; a method named `class` has parentheses before its braces. */
function isClassSource(source) {
  if (!stringStartsWith(source, "class") || source[source.length - 1] !== "}") return false;
  const rest = stringSlice(source, 5, -1);
  const brace = stringIndexOf(rest, "{");
  if (brace === -1) return false;
  if (!stringIncludes(stringSlice(rest, 0, brace), "(")) return true;
  const head = headOf(rest);
  return head !== undefined && stringIncludes(WHITE_SPACE, head[0]) && !stringIncludes(head, "(");
}

function printClass(value, className, tag) {
  const name = (hasOwn(value, "name") && value.name) || "(anonymous)";
  let base = `class ${name}`;
  if (className !== "Function" && className !== null) base += ` [${className}]`;
  if (tag !== "" && className !== tag) base += ` [${tag}]`;
  if (className === null) return `[${base} extends [null prototype]]`;
  const parent = getPrototypeOf(value).name;
  return parent ? `[${base} extends ${parent}]` : `[${base}]`;
}

const KINDS = {
  __proto__: null,
  Function: "Function",
  GeneratorFunction: "GeneratorFunction",
  AsyncFunction: "AsyncFunction",
  AsyncGeneratorFunction: "AsyncGeneratorFunction",
};

/** @param {string} brand that of the function, such as "AsyncFunction" */
export function printFunction(value, brand, className, tag) {
  if (isClassSource(functionToString(value))) return printClass(value, className, tag);
  const kind = KINDS[brand] ?? "Function";
  let base = `[${kind}`;
  if (className === null) base += " (null prototype)";
  base += value.name === "" ? " (anonymous)]" : `: ${value.name}]`;
  if (className !== kind && className !== null) base += ` ${className}`;
  if (tag !== "" && className !== tag) base += ` [${tag}]`;
  return base;
}
