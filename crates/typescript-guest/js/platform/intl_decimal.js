// Exact decimal numbers: reading, rounding and writing of digits.

const PLAIN = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:e([+-]?\d+))?$/i;
const PREFIXED = /^0(?:x[\da-f]+|o[0-7]+|b[01]+)$/i;

/**
 * A number is `0.digits × 10^point`, without zeros at either end of the digits; zero has none.
 * @typedef {{kind: "finite" | "infinity" | "nan", negative: boolean, digits: string, point: number}} Decimal
 */

const make = (kind, negative, digits = "", point = 0) => ({ kind, negative, digits, point });

/** Removes zeros at both ends. */
function trimmed(negative, digits, point) {
  const start = /^0*/.exec(digits)[0].length;
  let end = digits.length;
  while (end > start && digits[end - 1] === "0") end -= 1;
  return make("finite", negative, digits.slice(start, end), end > start ? point - start : 0);
}

function ofText(text) {
  const found = PLAIN.exec(text);
  if (!found) return undefined;
  const [, sign, whole = "", fraction = "", onlyFraction = "", exponent = "0"] = found;
  if (!Number.isFinite(Number(text))) return make("infinity", sign === "-");
  const point = whole.length + Number(exponent);
  return trimmed(sign === "-", whole + fraction + onlyFraction, point);
}

/** Reads a text as the language does, but without losing digits. */
function ofString(string) {
  const text = string.trim();
  if (text === "") return make("finite", false);
  if (/^[+-]?Infinity$/.test(text)) return make("infinity", text.startsWith("-"));
  if (PREFIXED.test(text)) return ofText(`${BigInt(text)}`);
  return ofText(text) ?? make("nan", false);
}

function ofNumber(number) {
  if (Number.isNaN(number)) return make("nan", false);
  const negative = number < 0 || Object.is(number, -0);
  if (!Number.isFinite(number)) return make("infinity", negative);
  return { ...ofText(`${Math.abs(number)}`), negative };
}

/** The exact decimal of a number, a BigInt, or what becomes one. */
export function decimalOf(value) {
  const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
  const primitive = isObject ? primitiveOf(value) : value;
  if (typeof primitive === "bigint") return ofText(`${primitive}`);
  if (typeof primitive === "string") return ofString(primitive);
  return ofNumber(Number(primitive));
}

/** The number or text that an object stands for. */
function primitiveOf(object) {
  const exotic = object[Symbol.toPrimitive];
  if (exotic !== undefined && exotic !== null) return Reflect.apply(exotic, object, ["number"]);
  const value = object.valueOf();
  return typeof value === "object" && value !== null ? `${object}` : value;
}

export const isZero = (decimal) => decimal.kind === "finite" && decimal.digits === "";

/** The same number times a power of ten. */
export function shifted(decimal, by) {
  return decimal.digits === "" ? decimal : { ...decimal, point: decimal.point + by };
}

/** Whether to round away from zero; `half` is -1, 0 or 1 for less than, exactly and more than a half. */
function roundsUp(mode, negative, half, isOdd) {
  switch (mode) {
    case "ceil":
      return !negative;
    case "floor":
      return negative;
    case "expand":
      return true;
    case "trunc":
      return false;
    default:
  }
  if (half !== 0) return half > 0;
  if (mode === "halfCeil") return !negative;
  if (mode === "halfFloor") return negative;
  if (mode === "halfEven") return isOdd;
  return mode === "halfExpand";
}

/** Adds one to the last of some digits; the result may be one longer. */
function incremented(digits) {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === "9") end -= 1;
  const nines = digits.length - end;
  const head = digits.slice(0, end);
  const last = head === "" ? "1" : head.slice(0, -1) + (Number(head.at(-1)) + 1);
  return last + "0".repeat(nines);
}

/** Rounds to a number of leading digits, which may be negative. */
export function rounded(decimal, keep, mode) {
  const { kind, negative, digits, point } = decimal;
  if (kind !== "finite" || keep >= digits.length) return decimal;
  const head = keep > 0 ? digits.slice(0, keep) : "";
  const rest = keep >= 0 ? digits.slice(keep) : "0";
  const half = rest[0] === "5" && rest.length === 1 ? 0 : rest[0] >= "5" ? 1 : -1;
  const isOdd = Number(head.at(-1) ?? 0) % 2 === 1;
  if (!roundsUp(mode, negative, half, isOdd)) return trimmed(negative, head, point);
  if (head === "") return make("finite", negative, "1", point - keep + 1);
  const next = incremented(head);
  return trimmed(negative, next, point + next.length - head.length);
}

/** Rounds to a multiple of an increment of the last fraction digit. */
export function roundedTo(decimal, fractionDigits, increment, mode) {
  const { kind, negative, digits, point } = decimal;
  if (kind !== "finite" || digits === "") return decimal;
  const places = point + fractionDigits;
  const more = Math.max(0, digits.length - places);
  const whole = BigInt(digits.padEnd(places, "0"));
  const step = BigInt(increment) * 10n ** BigInt(more);
  const twice = (whole % step) * 2n;
  let quotient = whole / step;
  const half = twice === step ? 0 : twice > step ? 1 : -1;
  if (twice !== 0n && roundsUp(mode, negative, half, quotient % 2n === 1n)) quotient += 1n;
  const result = `${quotient * BigInt(increment)}`;
  return trimmed(negative, result, result.length - fractionDigits);
}

/** The digits before and after the point, with at least so many of them. */
export function written({ digits, point }, leastWhole, leastFraction) {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, "0") : "0";
  const fraction = point >= 0 ? digits.slice(point) : "0".repeat(-point) + digits;
  return {
    whole: (digits === "" ? "0" : whole).padStart(leastWhole, "0"),
    fraction: (digits === "" ? "" : fraction).padEnd(leastFraction, "0"),
  };
}
