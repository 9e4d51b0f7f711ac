// `Intl.ListFormat`: "a, b, and c".

import { asService, readMatcher, resolveLocale, textOption } from "./intl_locale.js";

const SERVICE = "Intl.ListFormat";
const STYLES = ["long", "short", "narrow"];
const TYPES = ["conjunction", "disjunction", "unit"];

/** Spanish changes "y" before the sound of i, and "o" before that of o. */
function inSpanish(separator, next) {
  if (separator.endsWith(" y ") && /^(?:i|hi(?![ae]))/i.test(next)) return separator.replace(/y $/, "e ");
  if (separator.endsWith(" o ") && /^(?:h?o|8|11(?: |$))/i.test(next)) return separator.replace(/o $/, "u ");
  return separator;
}

/** Takes texts only. */
function readTexts(list) {
  if (list === undefined) return [];
  return Array.from(iterate(list), (item) => {
    if (typeof item === "string") return item;
    throw new TypeError(`Iterable yielded ${String(item)} which is not a string`);
  });
}

function iterate(list) {
  if (typeof list?.[Symbol.iterator] === "function") return list;
  throw new TypeError(`${typeof list} ${String(list)} is not iterable`);
}

class ListFormatObject {
  #locale;
  #language;
  #separators;
  #type;
  #style;

  constructor(locales = undefined, options = undefined) {
    const { locale, language, data } = resolveLocale(locales);
    if (options !== undefined && (typeof options !== "object" || options === null)) {
      throw new TypeError("invalid_argument");
    }
    const given = options ?? {};
    readMatcher(SERVICE, given);
    this.#locale = locale;
    this.#language = language;
    this.#type = textOption(SERVICE, given, "type", TYPES, "conjunction");
    this.#style = textOption(SERVICE, given, "style", STYLES, "long");
    this.#separators = data.lists[this.#type][STYLES.indexOf(this.#style)];
  }

  format(list) {
    return this.formatToParts(list)
      .map(({ value }) => value)
      .join("");
  }

  formatToParts(list) {
    const texts = readTexts(list);
    return texts.flatMap((value, index) => {
      const literal = index ? this.#before(index, texts) : "";
      return [
        { type: "literal", value: literal },
        { type: "element", value },
      ].slice(literal ? 0 : 1);
    });
  }

  /** The text before an item that is not the first. */
  #before(index, texts) {
    const [pair, middle, last] = this.#separators;
    if (index < texts.length - 1) return middle;
    const separator = texts.length === 2 ? pair : last;
    return this.#language === "es" ? inSpanish(separator, texts[index]) : separator;
  }

  resolvedOptions() {
    return { locale: this.#locale, type: this.#type, style: this.#style };
  }
}

export const ListFormat = asService(ListFormatObject, "ListFormat");
