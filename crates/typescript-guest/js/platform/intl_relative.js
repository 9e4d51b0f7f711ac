// `Intl.RelativeTimeFormat`: "in 3 days", "yesterday".

import { decimalOf } from "./intl_decimal.js";
import { asService, readMatcher, resolveLocale, textOption } from "./intl_locale.js";
import { formOf, plainNumber } from "./intl_number_parts.js";
import { pluralOf } from "./intl_plural.js";

const SERVICE = "Intl.RelativeTimeFormat";
const UNITS = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"];
const STYLES = ["long", "short", "narrow"];
const FORMAT = `${SERVICE}.prototype.format()`;

/** The unit in the singular. */
function unitOf(name) {
  const unit = `${name}`.replace(/s$/, "");
  if (!UNITS.includes(unit)) throw new RangeError(`Invalid unit argument for ${FORMAT} '${name}'`);
  return unit;
}

/** Forms for the future, for the past, and words for small numbers; a style may be like the one before. */
function formsOf(styles, style) {
  let index = STYLES.indexOf(style);
  while (styles[index] === 0) index -= 1;
  return styles[index];
}

class RelativeTimeFormatObject {
  #locale;
  #language;
  #data;
  #style;
  #numeric;

  constructor(locales = undefined, options = undefined) {
    const { locale, language, data } = resolveLocale(locales, { nu: ["latn"] });
    if (options === null) throw new TypeError(`${SERVICE} called on null or undefined`);
    const given = options === undefined ? {} : Object(options);
    readMatcher(SERVICE, given);
    this.#locale = locale;
    this.#language = language;
    this.#data = data;
    this.#style = textOption(SERVICE, given, "style", STYLES, "long");
    this.#numeric = textOption(SERVICE, given, "numeric", ["always", "auto"], "always");
  }

  format(value, unit) {
    return this.formatToParts(value, unit)
      .map((part) => part.value)
      .join("");
  }

  formatToParts(value, unit) {
    const number = Number(value);
    if (!Number.isFinite(number)) throw new RangeError(`Value need to be finite number for ${FORMAT}`);
    const name = unitOf(unit);
    const [future, past, words] = formsOf(this.#data.relative[name], this.#style);
    const word = this.#numeric === "auto" ? words[number] : undefined;
    if (word !== undefined) return [{ type: "literal", value: word }];
    return this.#numberParts(decimalOf(number), name, future, past);
  }

  #numberParts(decimal, unit, future, past) {
    const { whole, fraction, parts } = plainNumber(this.#data, decimal);
    const forms = decimal.negative ? past : future;
    const text = formOf(forms, pluralOf(this.#language, whole, fraction));
    const [before, after] = text.split("{0}");
    const numbers = parts.map((part) => ({ ...part, unit }));
    const literal = (value) => ({ type: "literal", value });
    return [literal(before), ...numbers, literal(after)].filter((part) => part.value !== "");
  }

  resolvedOptions() {
    return { locale: this.#locale, style: this.#style, numeric: this.#numeric, numberingSystem: "latn" };
  }
}

export const RelativeTimeFormat = asService(RelativeTimeFormatObject, "RelativeTimeFormat");
