// Errors as Node makes them: class, code and wording of messages about arguments.

const { apply } = Reflect;
const INSPECT = Symbol.for("nodejs.util.inspect.custom");
const LONGEST_VALUE = 128;
const DEEPEST = 2;
const MOST_ITEMS = 100;
const LONGEST_RECEIVED = 28;
const PRIMITIVES = new Set(["string", "function", "number", "object", "boolean", "bigint", "symbol"]);
const CLASS_NAME = /^([A-Z][a-z0-9]*)+$/;
const objectToString = Object.prototype.toString;

const ESCAPES = new Map([
  ["\b", "\\b"],
  ["\t", "\\t"],
  ["\n", "\\n"],
  ["\f", "\\f"],
  ["\r", "\\r"],
  ["\\", "\\\\"],
]);

/** Makes a class like Node's own: the code is a property and stands in the text of the error. */
function withCode(Base) {
  const NodeError = class extends Base {
    constructor(code, message, options) {
      super(message, options);
      this.code = code;
    }

    toString() {
      return `${this.name} [${this.code}]: ${this.message}`;
    }
  };
  Object.defineProperty(NodeError, "name", { value: "NodeError" });
  return NodeError;
}

export const CodedError = withCode(Error);
export const CodedTypeError = withCode(TypeError);
export const CodedRangeError = withCode(RangeError);
export const CodedURIError = withCode(URIError);

/** Writes a string as `util.inspect` does, in the quotes that need the fewest escapes. */
function quote(string) {
  let mark = "'";
  if (string.includes("'")) {
    if (!string.includes('"')) mark = '"';
    else if (!string.includes("`") && !string.includes("${")) mark = "`";
  }
  const escaped = string.replace(/[\x00-\x1f\\\x7f-\x9f'"`]/g, (char) => {
    if (char === "'" || char === '"' || char === "`") return char === mark ? `\\${char}` : char;
    return ESCAPES.get(char) ?? `\\x${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  });
  return mark + escaped + mark;
}

/** Writes a value shortly, as the messages of errors show it; what lies deep is only named. */
export function show(value, depth = 0) {
  switch (typeof value) {
    case "string":
      return quote(value.length > LONGEST_VALUE ? value.slice(0, LONGEST_VALUE + 1) : value);
    case "number":
      return Object.is(value, -0) ? "-0" : `${value}`;
    case "bigint":
      return `${value}n`;
    case "symbol":
      return value.toString();
    case "function":
      return value.name ? `[Function: ${value.name}]` : "[Function (anonymous)]";
    case "object":
      return showObject(value, depth);
    default:
      return `${value}`;
  }
}

function showObject(value, depth) {
  if (value === null) return "null";
  if (ArrayBuffer.isView(value) && typeof value[INSPECT] === "function") return value[INSPECT]();
  const isList = Array.isArray(value);
  if (depth > DEEPEST) return isList ? "[Array]" : "[Object]";
  if (isList) {
    const items = value.slice(0, MOST_ITEMS).map((item) => show(item, depth + 1));
    return items.length ? `[ ${items.join(", ")} ]` : "[]";
  }
  const pairs = Object.entries(value).slice(0, MOST_ITEMS);
  const entries = pairs.map(([key, item]) => `${key}: ${show(item, depth + 1)}`);
  const prototype = Object.getPrototypeOf(value);
  const name = prototype === null ? "[Object: null prototype]" : prototype.constructor?.name;
  const prefix = name === "Object" || !name ? "" : `${name} `;
  return `${prefix}${entries.length ? `{ ${entries.join(", ")} }` : "{}"}`;
}

/** Says what kind of value arrived: `type number (1)`, `an instance of Map`, `undefined`. */
export function describeReceived(value) {
  if (value === null || value === undefined) return `${value}`;
  if (typeof value === "function") return `function ${value.name}`;
  if (typeof value === "object") {
    const name = value.constructor?.name;
    return name ? `an instance of ${name}` : apply(objectToString, value, []);
  }
  const text = show(value);
  const shown = text.length > LONGEST_RECEIVED ? `${text.slice(0, LONGEST_RECEIVED - 3)}...` : text;
  return `type ${typeof value} (${shown})`;
}

/** Joins words as `a`, `a or b`, `a, b, or c`. */
function alternatives(words) {
  if (words.length < 3) return words.join(" or ");
  return `${words.slice(0, -1).join(", ")}, or ${words.at(-1)}`;
}

/** Says which kinds are right: `of type string or an instance of URL`. */
function describeExpected(expected) {
  let types = expected.filter((word) => PRIMITIVES.has(word));
  const instances = expected.filter((word) => !PRIMITIVES.has(word) && CLASS_NAME.test(word));
  if (instances.length && types.includes("object")) {
    types = types.filter((word) => word !== "object");
    instances.push("Object");
  }
  const others = expected.filter((word) => !PRIMITIVES.has(word) && !CLASS_NAME.test(word));
  const groups = [];
  if (types.length) groups.push(`${types.length > 1 ? "one of type" : "of type"} ${alternatives(types)}`);
  if (instances.length) groups.push(`an instance of ${alternatives(instances)}`);
  if (others.length > 1) groups.push(`one of ${alternatives(others)}`);
  else if (others.length) groups.push(/[A-Z]/.test(others[0]) ? `an ${others[0]}` : others[0]);
  return groups.join(" or ");
}

/** `name` is the argument's name, or words that end with " argument"; a dot makes it a property. */
export function invalidArgType(name, expected, value) {
  const kind = name.includes(".") ? "property" : "argument";
  const subject = name.endsWith(" argument") ? name : `"${name}" ${kind}`;
  const right = describeExpected(typeof expected === "string" ? [expected] : expected);
  const message = `The ${subject} must be ${right}. Received ${describeReceived(value)}`;
  return new CodedTypeError("ERR_INVALID_ARG_TYPE", message);
}

export function invalidArgValue(name, value, reason = "is invalid", ErrorClass = CodedTypeError) {
  const shown = show(value);
  const short = shown.length > LONGEST_VALUE ? `${shown.slice(0, LONGEST_VALUE)}...` : shown;
  const kind = name.includes(".") ? "property" : "argument";
  return new ErrorClass("ERR_INVALID_ARG_VALUE", `The ${kind} '${name}' ${reason}. Received ${short}`);
}

/** Writes digits in groups of three with `_`, as Node shows large numbers. */
function separated(digits) {
  const sign = digits.startsWith("-") ? "-" : "";
  let groups = "";
  let end = digits.length;
  for (; end >= sign.length + 4; end -= 3) groups = `_${digits.slice(end - 3, end)}${groups}`;
  return digits.slice(0, end) + groups;
}

export function outOfRange(name, range, value) {
  let received = show(value);
  if (Number.isInteger(value) && Math.abs(value) > 2 ** 32) received = separated(String(value));
  if (typeof value === "bigint" && (value > 2n ** 32n || value < -(2n ** 32n))) {
    received = `${separated(String(value))}n`;
  }
  const message = `The value of "${name}" is out of range. It must be ${range}. Received ${received}`;
  return new CodedRangeError("ERR_OUT_OF_RANGE", message);
}

export function missingArgs(...names) {
  const quoted = names.map((name) => `"${name}"`);
  const words = quoted.length > 2 ? alternatives(quoted).replace(", or ", ", and ") : quoted.join(" and ");
  const verb = `argument${names.length > 1 ? "s" : ""} must be specified`;
  return new CodedTypeError("ERR_MISSING_ARGS", `The ${words} ${verb}`);
}

export function invalidThis(name) {
  return new CodedTypeError("ERR_INVALID_THIS", `Value of "this" must be of type ${name}`);
}

export function checkString(value, name) {
  if (typeof value !== "string") throw invalidArgType(name, "string", value);
}

export function checkFunction(value, name) {
  if (typeof value !== "function") throw invalidArgType(name, "function", value);
}

export function checkObject(value, name) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw invalidArgType(name, "object", value);
  }
}

export function checkBoolean(value, name) {
  if (typeof value !== "boolean") throw invalidArgType(name, "boolean", value);
}

export function checkNumber(value, name, least = -Infinity, most = Infinity) {
  if (typeof value !== "number") throw invalidArgType(name, "number", value);
  if (value < least || value > most || Number.isNaN(value)) {
    const limits = [];
    if (least !== -Infinity) limits.push(`>= ${least}`);
    if (most !== Infinity) limits.push(`<= ${most}`);
    throw outOfRange(name, limits.join(" && "), value);
  }
}

export function checkInteger(value, name, least = Number.MIN_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER) {
  if (typeof value !== "number") throw invalidArgType(name, "number", value);
  if (!Number.isInteger(value)) throw outOfRange(name, "an integer", value);
  if (value < least || value > most) throw outOfRange(name, `>= ${least} && <= ${most}`, value);
}

export function checkOneOf(value, name, choices) {
  if (choices.includes(value)) return;
  throw invalidArgValue(name, value, `must be one of: ${choices.map((choice) => show(choice)).join(", ")}`);
}
