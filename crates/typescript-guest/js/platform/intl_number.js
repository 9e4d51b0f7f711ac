// `Intl.NumberFormat`, and `toLocaleString` of numbers.

import { asService } from "./intl_locale.js";
import { readNumberOptions, resolvedNumberOptions } from "./intl_number_options.js";
import { numberParts } from "./intl_number_parts.js";

const joined = (parts) => parts.map(({ value }) => value).join("");
const NOT_A_NUMBER = "Invalid argument";

class NumberFormatObject {
  #settings;
  #format;

  constructor(locales = undefined, options = undefined) {
    this.#settings = readNumberOptions(locales, options);
  }

  /** A function that needs no `this`, so that it can be handed to `map`. */
  get format() {
    const settings = this.#settings;
    this.#format ??= (value) => joined(numberParts(settings, value));
    return this.#format;
  }

  formatToParts(value) {
    return numberParts(this.#settings, value);
  }

  formatRange(start, end) {
    return joined(this.formatRangeToParts(start, end));
  }

  /** Writes both ends; equal ones are one approximate number. */
  formatRangeToParts(start, end) {
    if (Number.isNaN(Number(start)) || Number.isNaN(Number(end))) throw new RangeError(NOT_A_NUMBER);
    const shared = (parts, source) => parts.map((item) => ({ ...item, source }));
    const [from, to] = [start, end].map((value) => numberParts(this.#settings, value));
    if (joined(from) === joined(to)) {
      return shared([{ type: "approximatelySign", value: "~" }, ...from], "shared");
    }
    const between = this.#settings.style === "decimal" ? "–" : " – ";
    return [
      ...shared(from, "startRange"),
      { type: "literal", value: between, source: "shared" },
      ...shared(to, "endRange"),
    ];
  }

  resolvedOptions() {
    return resolvedNumberOptions(this.#settings);
  }
}

export const NumberFormat = asService(NumberFormatObject, "NumberFormat", { needsNew: false });

const MOST_KEPT = 32;
/** Formatters without options, which programs ask for again and again. */
const kept = new Map();

function formatterFor(locales, options) {
  const isPlain = options === undefined && (locales === undefined || typeof locales === "string");
  const known = isPlain ? kept.get(locales) : undefined;
  if (known) return known;
  const formatter = new NumberFormat(locales, options);
  if (isPlain && kept.size < MOST_KEPT) kept.set(locales, formatter);
  return formatter;
}

/** Makes `toLocaleString` for one kind of number. */
function localeStringOf(name, valueOf) {
  return {
    toLocaleString(locales = undefined, options = undefined) {
      let value;
      try {
        value = Reflect.apply(valueOf, this, []);
      } catch {
        throw new TypeError(`${name}.prototype.toLocaleString requires that 'this' be a ${name}`);
      }
      return formatterFor(locales, options).format(value);
    },
  }.toLocaleString;
}

for (const { name, prototype } of [Number, BigInt]) {
  const value = localeStringOf(name, prototype.valueOf);
  Object.defineProperty(prototype, "toLocaleString", { value, writable: true, configurable: true });
}
