// `Intl.PluralRules`: which form of a word a number takes.

import { decimalOf } from "./intl_decimal.js";
import { readDigits, resolvedDigits, writtenBy } from "./intl_digits.js";
import { asService, readMatcher, resolveLocale, textOption } from "./intl_locale.js";

const SERVICE = "Intl.PluralRules";
const ORDER = ["few", "many", "one", "two", "zero", "other"];
const EXACT_DIGITS = 15;
const MILLION = 1000000;

const between = (value, least, most) => value >= least && value <= most;

/** Romance languages say "of" after whole millions. */
const isMillions = ({ i, v }) => i !== 0 && i % MILLION === 0 && v === 0;

const one = ({ i, v }) => i === 1 && v === 0;
const oneOrMany = (isOne) => ({ one: isOne, many: isMillions });

/** For each language the tests of its categories, in order; all other numbers are "other". */
const CARDINAL = {
  en: { one },
  de: { one },
  nl: { one },
  sv: { one },
  it: oneOrMany(one),
  es: oneOrMany(({ i, t }) => i === 1 && t === 0),
  fr: oneOrMany(({ i }) => i <= 1),
  pt: oneOrMany(({ i }) => i <= 1),
  pl: {
    one,
    few: ({ i, v }) => v === 0 && between(i % 10, 2, 4) && !between(i % 100, 12, 14),
    many: ({ v }) => v === 0,
  },
  ja: {},
  zh: {},
};

const endsWith =
  (digit) =>
  ({ i, t }) =>
    t === 0 && i % 10 === digit && i % 100 !== 10 + digit;

const ORDINAL = {
  en: { one: endsWith(1), two: endsWith(2), few: endsWith(3) },
  fr: { one: ({ i, t }) => t === 0 && i === 1 },
  it: { many: ({ i, t }) => t === 0 && [8, 11, 80, 800].includes(i) },
  sv: { one: (operands) => endsWith(1)(operands) || endsWith(2)(operands) },
};

/** The operands of the tests: the whole part, and the fraction's length and value. */
function operandsOf(whole, fraction) {
  const isLong = whole.length > EXACT_DIGITS;
  const i = Number(whole.slice(-EXACT_DIGITS)) + (isLong ? 10 ** EXACT_DIGITS : 0);
  return { i, v: fraction.length, t: Number(fraction.slice(0, EXACT_DIGITS)) };
}

/** The category of a number as it is written. */
export function pluralOf(language, whole, fraction, type = "cardinal") {
  const tests = (type === "ordinal" ? ORDINAL : CARDINAL)[language] ?? {};
  const operands = operandsOf(whole, fraction);
  return Object.keys(tests).find((category) => tests[category](operands)) ?? "other";
}

class PluralRulesObject {
  #language;
  #type;
  #digits;

  constructor(locales = undefined, options = undefined) {
    const { language } = resolveLocale(locales);
    const given = options === undefined ? {} : Object(options);
    readMatcher(SERVICE, given);
    this.#language = language;
    this.#type = textOption(SERVICE, given, "type", ["cardinal", "ordinal"], "cardinal");
    this.#digits = readDigits(SERVICE, given, 0, 3, false);
  }

  select(value) {
    const decimal = decimalOf(Number(value));
    if (decimal.kind !== "finite") return "other";
    const { whole, fraction } = writtenBy(decimal, this.#digits);
    return pluralOf(this.#language, whole, fraction, this.#type);
  }

  /** In these languages the end of a range decides. */
  selectRange(start, end) {
    if (Number.isNaN(Number(start)) || Number.isNaN(Number(end))) {
      throw new RangeError("Invalid argument to selectRange");
    }
    return this.select(end);
  }

  resolvedOptions() {
    const tests = (this.#type === "ordinal" ? ORDINAL : CARDINAL)[this.#language] ?? {};
    const categories = [...Object.keys(tests), "other"];
    return {
      locale: this.#language,
      type: this.#type,
      ...resolvedDigits(this.#digits),
      pluralCategories: ORDER.filter((category) => categories.includes(category)),
    };
  }
}

export const PluralRules = asService(PluralRulesObject, "PluralRules");
