// How many digits a number shows: the options for it, and the rounding that follows from them.

import { isZero, rounded, roundedTo, written } from "./intl_decimal.js";
import { numberOption, textOption } from "./intl_locale.js";

const MOST_FRACTION = 100;
const MOST_DIGITS = 21;
const INCREMENTS = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500, 5000];
const MODES = [
  "ceil",
  "floor",
  "expand",
  "trunc",
  "halfCeil",
  "halfFloor",
  "halfExpand",
  "halfTrunc",
  "halfEven",
];

/** Reads least and greatest number of fraction digits; one that is given moves the other's default. */
function fractionDigits(options, leastDefault, mostDefault) {
  const given = numberOption(options, "minimumFractionDigits", 0, MOST_FRACTION, undefined);
  const most = numberOption(options, "maximumFractionDigits", 0, MOST_FRACTION, undefined);
  const least = given ?? Math.min(leastDefault, most ?? leastDefault);
  if (most !== undefined && least > most) {
    throw new RangeError("maximumFractionDigits value is out of range.");
  }
  return { leastFraction: least, mostFraction: most ?? Math.max(mostDefault, least) };
}

function significantDigits(options) {
  const least = numberOption(options, "minimumSignificantDigits", 1, MOST_DIGITS, 1);
  const most = numberOption(options, "maximumSignificantDigits", least, MOST_DIGITS, MOST_DIGITS);
  return { leastSignificant: least, mostSignificant: most };
}

function incrementOption(options) {
  const increment = numberOption(options, "roundingIncrement", 1, 5000, 1);
  if (!INCREMENTS.includes(increment)) throw new RangeError("roundingIncrement value is out of range.");
  return increment;
}

/** Reads the options of digits; the defaults are those of a style. */
export function readDigits(service, options, leastDefault, mostDefault, isCompact) {
  const leastWhole = numberOption(options, "minimumIntegerDigits", 1, MOST_DIGITS, 1);
  const increment = incrementOption(options);
  const mode = textOption(service, options, "roundingMode", MODES, "halfExpand");
  const priorities = ["auto", "morePrecision", "lessPrecision"];
  const priority = textOption(service, options, "roundingPriority", priorities, "auto");
  const zeros = textOption(service, options, "trailingZeroDisplay", ["auto", "stripIfInteger"], "auto");
  const has = (...names) => names.some((name) => options[name] !== undefined);
  const hasSignificant = has("minimumSignificantDigits", "maximumSignificantDigits");
  const hasFraction = has("minimumFractionDigits", "maximumFractionDigits");
  const common = { leastWhole, increment, mode, zeros };
  if (priority === "auto" && hasSignificant) {
    return { ...common, priority, kind: "significant", ...significantDigits(options) };
  }
  if (priority === "auto" && (hasFraction || !isCompact)) {
    return { ...common, priority, kind: "fraction", ...fractionDigits(options, leastDefault, mostDefault) };
  }
  if (priority === "auto") {
    const compact = { leastSignificant: 1, mostSignificant: 2, leastFraction: 0, mostFraction: 0 };
    return { ...common, priority: "morePrecision", kind: "both", ...compact };
  }
  const fraction = fractionDigits(options, leastDefault, mostDefault);
  return { ...common, priority, kind: "both", ...significantDigits(options), ...fraction };
}

/** Whether significant digits decide: they keep more, or less, than fraction digits do. */
function prefersSignificant(decimal, digits) {
  if (digits.kind !== "both") return digits.kind === "significant";
  const kept = (isZero(decimal) ? 1 : decimal.point) - digits.mostSignificant;
  const isFiner = kept <= -digits.mostFraction;
  return digits.priority === "morePrecision" ? isFiner : !isFiner;
}

/** Rounds a number as the digits want it; returns it with its least number of fraction digits. */
export function roundedBy(decimal, digits) {
  if (prefersSignificant(decimal, digits)) {
    const result = rounded(decimal, digits.mostSignificant, digits.mode);
    const places = isZero(result) ? 1 : result.point;
    return { decimal: result, leastFraction: Math.max(0, digits.leastSignificant - places) };
  }
  const { mostFraction, increment, mode, leastFraction } = digits;
  const result =
    increment === 1
      ? rounded(decimal, decimal.point + mostFraction, mode)
      : roundedTo(decimal, mostFraction, increment, mode);
  return { decimal: result, leastFraction };
}

/** Rounds and writes a number; returns its digits before and after the point. */
export function writtenBy(decimal, digits) {
  const { decimal: result, leastFraction } = roundedBy(decimal, digits);
  const text = written(result, digits.leastWhole, leastFraction);
  const strips = digits.zeros === "stripIfInteger" && /^0*$/.test(text.fraction);
  return strips ? { ...text, fraction: "" } : text;
}

/** The digits in `resolvedOptions`. */
export function resolvedDigits(digits) {
  const { kind, leastWhole, leastFraction, mostFraction, leastSignificant, mostSignificant } = digits;
  const resolved = { minimumIntegerDigits: leastWhole };
  if (kind !== "significant") {
    resolved.minimumFractionDigits = leastFraction;
    resolved.maximumFractionDigits = mostFraction;
  }
  if (kind !== "fraction") {
    resolved.minimumSignificantDigits = leastSignificant;
    resolved.maximumSignificantDigits = mostSignificant;
  }
  return resolved;
}

/** The rounding in `resolvedOptions`. */
export function resolvedRounding({ mode, increment, zeros, priority }) {
  return {
    roundingMode: mode,
    roundingIncrement: increment,
    trailingZeroDisplay: zeros,
    roundingPriority: priority,
  };
}
