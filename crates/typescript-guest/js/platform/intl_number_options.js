// The options of `Intl.NumberFormat`.

import { readDigits, resolvedDigits, resolvedRounding } from "./intl_digits.js";
import { readMatcher, resolveLocale, textOption } from "./intl_locale.js";
import { CURRENCY_DIGITS } from "./locale_data.js";

const SERVICE = "Intl.NumberFormat";
const USUAL_CURRENCY_DIGITS = 2;

const text = (options, name, allowed, fallback) => textOption(SERVICE, options, name, allowed, fallback);

/** A currency has three letters. */
function readCurrency(options, style) {
  const currency = text(options, "currency", undefined, undefined);
  if (currency === undefined && style === "currency") {
    throw new TypeError("Currency code is required with currency style.");
  }
  if (currency !== undefined && !/^[a-z]{3}$/i.test(currency)) {
    throw new RangeError(`Invalid currency code : ${currency}`);
  }
  return currency?.toUpperCase();
}

/** A unit, or two of them joined by `-per-`; any locale's data knows all of them. */
function readUnit(options, style, units) {
  const unit = text(options, "unit", undefined, undefined);
  if (unit === undefined) {
    if (style === "unit") throw new TypeError("Invalid unit argument for Intl.NumberFormat() ''");
    return undefined;
  }
  const parts = Object.hasOwn(units, unit) ? [unit] : unit.split("-per-");
  if (parts.length > 2 || !parts.every((part) => Object.hasOwn(units, part))) {
    throw new RangeError(`Invalid unit argument for Intl.NumberFormat() '${unit}'`);
  }
  return unit;
}

/** Grouping is a word, or false. */
function readGrouping(options, notation) {
  const fallback = notation === "compact" ? "min2" : "auto";
  const { useGrouping } = options;
  if (useGrouping === undefined) return fallback;
  if (useGrouping === true) return "always";
  if (!useGrouping) return false;
  const word = String(useGrouping);
  if (word === "true" || word === "false") return fallback;
  return text({ useGrouping: word }, "useGrouping", ["min2", "auto", "always"], fallback);
}

/** A style's default minimum and maximum of fraction digits. */
function defaultFraction(style, currency) {
  if (style === "currency") {
    const digits = CURRENCY_DIGITS[currency] ?? USUAL_CURRENCY_DIGITS;
    return [digits, digits];
  }
  return [0, style === "percent" ? 0 : 3];
}

/** Reads the settings of a formatter. */
export function readNumberOptions(locales, options) {
  const { locale, language, data } = resolveLocale(locales, { nu: ["latn"] });
  if (options === null) throw new TypeError("Intl.NumberFormat called on null or undefined");
  const given = options === undefined ? {} : Object(options);
  readMatcher(SERVICE, given);
  const style = text(given, "style", ["decimal", "percent", "currency", "unit"], "decimal");
  const currency = readCurrency(given, style);
  const displays = ["code", "symbol", "narrowSymbol", "name"];
  const currencyDisplay = text(given, "currencyDisplay", displays, "symbol");
  const currencySign = text(given, "currencySign", ["standard", "accounting"], "standard");
  const unit = readUnit(given, style, data.units);
  const unitDisplay = text(given, "unitDisplay", ["short", "narrow", "long"], "short");
  const notations = ["standard", "scientific", "engineering", "compact"];
  const notation = text(given, "notation", notations, "standard");
  const [least, most] = defaultFraction(style, currency);
  const digits = readDigits(SERVICE, given, least, most, notation === "compact");
  const compactDisplay = text(given, "compactDisplay", ["short", "long"], "short");
  const useGrouping = readGrouping(given, notation);
  const signs = ["auto", "never", "always", "exceptZero", "negative"];
  const signDisplay = text(given, "signDisplay", signs, "auto");
  return {
    locale,
    language,
    data,
    style,
    currency,
    currencyDisplay,
    currencySign,
    unit,
    unitDisplay,
    notation,
    digits,
    compactDisplay,
    useGrouping,
    signDisplay,
  };
}

/** The result of `resolvedOptions`. */
export function resolvedNumberOptions(settings) {
  const { locale, style, notation, digits, useGrouping, signDisplay } = settings;
  const resolved = { locale, numberingSystem: "latn", style };
  if (style === "currency") {
    const { currency, currencyDisplay, currencySign } = settings;
    Object.assign(resolved, { currency, currencyDisplay, currencySign });
  }
  if (style === "unit") Object.assign(resolved, { unit: settings.unit, unitDisplay: settings.unitDisplay });
  Object.assign(resolved, resolvedDigits(digits), { useGrouping, notation });
  if (notation === "compact") resolved.compactDisplay = settings.compactDisplay;
  return Object.assign(resolved, { signDisplay }, resolvedRounding(digits));
}
