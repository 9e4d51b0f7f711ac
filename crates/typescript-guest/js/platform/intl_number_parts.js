// The parts of a written number: digits in groups, signs, and the text of a percentage, a currency or a unit.

import { decimalOf, isZero, rounded, shifted, written } from "./intl_decimal.js";
import { roundedBy, writtenBy } from "./intl_digits.js";
import { pluralOf } from "./intl_plural.js";

const GROUP = 3;
const NO_BREAK_SPACE = "\u00a0";
const UNIT_WIDTHS = { short: 0, long: 1, narrow: 2 };

const part = (type, value) => ({ type, value });

/** The text of a plural category, where the languages tell them apart. */
export function formOf(forms, category) {
  return typeof forms === "string" ? forms : (forms[category] ?? forms.other);
}

/** Splits text around a number into spaces and words. */
function affix(text, type) {
  const [, before, core, after] = /^(\s*)(.*?)(\s*)$/s.exec(text);
  const parts = [part("literal", before), part(type, core), part("literal", after)];
  return parts.filter(({ value }) => value !== "");
}

const isSign = ({ type }) => type === "minusSign" || type === "plusSign";

/** Puts a number into a template such as `{0} km`; one without a place for it keeps the sign alone. */
export function fillTemplate(template, number, type) {
  const [before, after] = template.split("{0}");
  if (after === undefined) return [...number.filter(isSign), ...affix(template, type)];
  return [...affix(before, type), ...number, ...affix(after, type)];
}

/** Whether whole digits are grouped: some languages, and `min2`, leave four digits together. */
function isGrouped(whole, useGrouping, leastGrouped) {
  if (!useGrouping) return false;
  const least = useGrouping === "always" ? 4 : useGrouping === "min2" ? 5 : leastGrouped;
  return whole.length >= least;
}

/** The digits of a finite number as parts. */
function digitParts({ whole, fraction }, { decimal, group, leastGrouped }, useGrouping) {
  const parts = [];
  if (isGrouped(whole, useGrouping, leastGrouped)) {
    const first = whole.length % GROUP || GROUP;
    parts.push(part("integer", whole.slice(0, first)));
    for (let index = first; index < whole.length; index += GROUP) {
      parts.push(part("group", group), part("integer", whole.slice(index, index + GROUP)));
    }
  } else {
    parts.push(part("integer", whole));
  }
  if (fraction) parts.push(part("decimal", decimal), part("fraction", fraction));
  return parts;
}

/** Which row of the compact table a number uses: its scale and its text; none below the first row. */
function compactRow(rows, { point }) {
  return rows.findLast(([exponent]) => exponent < point)?.slice(1) ?? [0, "{0}"];
}

/** Amounts with a symbol always use the short compact form. */
function compactRows({ data, style, currencyDisplay, compactDisplay }) {
  const isSymbol = style === "currency" && currencyDisplay !== "name";
  return data.compact[isSymbol ? "short" : compactDisplay];
}

/** Shortens a number; rounding may carry it into the next row. */
function compactNumber(settings, decimal) {
  const rows = compactRows(settings);
  const [scale] = compactRow(rows, decimal);
  const result = roundedBy(shifted(decimal, -scale), settings.digits).decimal;
  const [finalScale, forms] = compactRow(rows, shifted(result, scale));
  return { text: writtenBy(shifted(decimal, -finalScale), settings.digits), forms, scale: finalScale };
}

/** The exponent that leaves one digit before the point, or up to three in engineering. */
function exponentOf(decimal, notation) {
  if (isZero(decimal)) return 0;
  const exponent = decimal.point - 1;
  return notation === "engineering" ? Math.floor(exponent / 3) * 3 : exponent;
}

function scientificNumber(settings, decimal) {
  const { notation, digits } = settings;
  const first = exponentOf(decimal, notation);
  const result = roundedBy(shifted(decimal, -first), digits).decimal;
  const exponent = exponentOf(shifted(result, first), notation);
  return { text: writtenBy(shifted(decimal, -exponent), digits), exponent };
}

function exponentParts(exponent, { exponent: separator, minus }) {
  const parts = [part("exponentSeparator", separator)];
  if (exponent < 0) parts.push(part("exponentMinusSign", minus));
  return [...parts, part("exponentInteger", `${Math.abs(exponent)}`)];
}

/** A finite number in its notation: its parts, its plural category, and whether it shows only zeros. */
function finiteNumber(settings, decimal) {
  const { data, language, notation, useGrouping, digits } = settings;
  let text;
  let forms;
  let exponent;
  let scale;
  if (notation === "compact") ({ text, forms, scale } = compactNumber(settings, decimal));
  else if (notation === "standard") text = writtenBy(decimal, digits);
  else ({ text, exponent } = scientificNumber(settings, decimal));
  const plural = pluralOf(language, text.whole, text.fraction);
  const isLoose = notation === "compact" && useGrouping === "auto";
  const parts = digitParts(text, data.numbers, isLoose ? "min2" : useGrouping);
  if (exponent !== undefined) parts.push(...exponentParts(exponent, data.numbers));
  const isNothing = /^0*$/.test(text.whole + text.fraction);
  const whole = pluralOfScaled(language, text, scale ?? exponent ?? 0);
  if (forms === undefined) return { parts, plural: whole, isNothing };
  const isOne = typeof forms === "object" && /^0*1$/.test(text.whole) && /^0*$/.test(text.fraction);
  const compact = (isOne && forms[1]) || formOf(forms, plural);
  return { parts, plural: whole, isNothing, compact };
}

/** The category of a shortened number is that of the number it stands for. */
function pluralOfScaled(language, { whole, fraction }, scale) {
  if (scale < 0) {
    const digits = whole.padStart(1 - scale, "0");
    return pluralOf(language, digits.slice(0, scale), digits.slice(scale) + fraction);
  }
  const moved = fraction.slice(0, scale).padEnd(scale, "0");
  return pluralOf(language, (whole + moved).replace(/^0+(?=\d)/, ""), fraction.slice(scale));
}

function shownNumber(settings, decimal) {
  const plural = "other";
  if (decimal.kind === "nan") return { parts: [part("nan", "NaN")], plural, isNothing: true };
  if (decimal.kind === "infinity") return { parts: [part("infinity", "∞")], plural, isNothing: false };
  return finiteNumber(settings, settings.style === "percent" ? shifted(decimal, 2) : decimal);
}

/** The sign to show: "-", "+" or none. */
function signOf(signDisplay, negative, isNothing) {
  switch (signDisplay) {
    case "never":
      return "";
    case "always":
      return negative ? "-" : "+";
    case "exceptZero":
      return isNothing ? "" : negative ? "-" : "+";
    case "negative":
      return negative && !isNothing ? "-" : "";
    default:
      return negative ? "-" : "";
  }
}

function signPart(sign, { minus }) {
  if (sign === "") return [];
  return [sign === "-" ? part("minusSign", minus) : part("plusSign", "+")];
}

/** The symbol, code or narrow symbol of a currency. */
function currencySymbol({ data, currency, currencyDisplay }) {
  if (currencyDisplay === "code") return currency;
  const symbols = data.currencySymbols[currency] ?? currency;
  if (typeof symbols === "string") return symbols;
  return symbols[currencyDisplay === "narrowSymbol" ? 1 : 0];
}

/** The pattern of an amount with its sign; that of a shortened amount stands before everything. */
function currencyPattern({ data, currencySign, compactDisplay, signDisplay }, sign, isShort) {
  const [positive, negative] = data.currency[currencySign];
  if (sign === "") return positive;
  if (currencySign !== "accounting") return isShort ? `-${positive}` : negative;
  const isPlain = ["always", "exceptZero"].includes(signDisplay) || compactDisplay === "long";
  return sign === "-" && !(isShort && isPlain) ? negative : `-${positive}`;
}

/** A letter beside a digit needs a space. */
const needsSpace = (char, digit) => /^\d/.test(digit.value) && !/[\p{S}\p{Z}]/u.test(char);

/** Writes an amount with a symbol. */
function currencyParts(settings, number, sign, isShort) {
  const pattern = currencyPattern(settings, sign, isShort);
  const symbol = currencySymbol(settings);
  const space = [part("literal", NO_BREAK_SPACE)];
  const parts = [];
  for (const token of pattern.match(/\{0\}|[¤-]|[^{¤-]+/g)) {
    if (token === "{0}") parts.push(...number);
    else if (token === "-") parts.push(...signPart(sign, settings.data.numbers));
    else if (token !== "¤") parts.push(part("literal", token));
    else {
      const isAfter = pattern.includes("{0}¤") && needsSpace(symbol[0], number.at(-1));
      const isBefore = pattern.includes("¤{0}") && needsSpace(symbol.at(-1), number[0]);
      parts.push(...(isAfter ? space : []), part("currency", symbol), ...(isBefore ? space : []));
    }
  }
  return parts;
}

/** Writes an amount with the name of its currency. */
function namedCurrencyParts({ data, currency }, number, plural) {
  const names = data.currencyNames[currency] ?? currency;
  return fillTemplate(
    data.currencyName.replace("¤", () => formOf(names, plural)),
    number,
    "currency",
  );
}

/** The template of a unit; two joined units borrow the words of a known rate. */
function unitTemplate({ data, notation, unit, unitDisplay }, plural) {
  if (unit === "percent" && notation === "compact" && unitDisplay === "short")
    return data.numbers.compactPercent;
  const width = UNIT_WIDTHS[unitDisplay];
  const templateOf = (name) => {
    const forms = data.units[name];
    return formOf(forms[width] ?? forms[0], plural);
  };
  if (Object.hasOwn(data.units, unit)) return templateOf(unit);
  const [amount, per] = unit.split("-per-");
  const word = templateOf(per).replace("{0}", "").trim();
  return `${templateOf(amount)}${unitDisplay === "long" ? " per " : "/"}${word}`;
}

/** A shortened percentage counts as a unit. */
function percentTemplate({ data, notation }, number) {
  if (notation === "compact") return [data.numbers.compactPercent, number, "unit"];
  return [data.numbers.percent, number, "percentSign"];
}

/** All parts of a written number. */
export function numberParts(settings, value) {
  const decimal = decimalOf(value);
  const { parts, plural, isNothing, compact } = shownNumber(settings, decimal);
  const sign = signOf(settings.signDisplay, decimal.negative, isNothing);
  const { style, data } = settings;
  const isSymbol = style === "currency" && settings.currencyDisplay !== "name";
  const signed = isSymbol ? parts : [...signPart(sign, data.numbers), ...parts];
  const number = compact === undefined ? signed : fillTemplate(compact, signed, "compact");
  if (isSymbol) return currencyParts(settings, number, sign, number !== parts && compact !== "{0}");
  if (style === "currency") return namedCurrencyParts(settings, number, plural);
  if (style === "percent") return fillTemplate(...percentTemplate(settings, number));
  if (style === "unit") return fillTemplate(unitTemplate(settings, plural), number, "unit");
  return number;
}

/** A number without anything around it, for other services: grouped, with at most three decimals. */
export function plainNumber(data, decimal) {
  const text = written(rounded(decimal, decimal.point + 3, "halfExpand"), 1, 0);
  return { ...text, parts: digitParts(text, data.numbers, "auto") };
}
