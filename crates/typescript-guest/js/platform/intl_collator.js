// `Intl.Collator` and `localeCompare`.

import { keyOf, lettersOf } from "./intl_collation.js";
import { asService, readMatcher, resolveLocale, textOption } from "./intl_locale.js";

const SERVICE = "Intl.Collator";
const SENSITIVITIES = ["base", "accent", "case", "variant"];
const CASE_FIRST = ["upper", "lower", "false"];
const MOST_KEYS = 20000;
const LONGEST_KEPT = 200;

const compareTexts = (one, two) => (one < two ? -1 : Number(one > two));

class CollatorObject {
  #settings;
  #compare;
  #keys = new Map();

  constructor(locales = undefined, options = undefined) {
    const supported = { co: ["default"], kn: ["", "true", "false"], kf: CASE_FIRST };
    const { locale, language, keywords } = resolveLocale(locales, supported);
    if (options === null) throw new TypeError("Intl.Collator called on null or undefined");
    const given = options === undefined ? {} : Object(options);
    const usage = textOption(SERVICE, given, "usage", ["sort", "search"], "sort");
    readMatcher(SERVICE, given);
    const { numeric, ignorePunctuation } = given;
    const keyword = keywords.has("kn") && keywords.get("kn") !== "false";
    const caseFirst = textOption(SERVICE, given, "caseFirst", CASE_FIRST, keywords.get("kf") ?? "false");
    const sensitivity = textOption(SERVICE, given, "sensitivity", SENSITIVITIES, "variant");
    this.#settings = {
      locale,
      usage,
      sensitivity,
      ignorePunctuation: Boolean(ignorePunctuation ?? false),
      numeric: numeric === undefined ? keyword : Boolean(numeric),
      caseFirst: CASE_FIRST.includes(caseFirst) ? caseFirst : "false",
      letters: lettersOf(language),
    };
  }

  /** A function that needs no `this`, so that it can be handed to `sort`. */
  get compare() {
    this.#compare ??= (one, two) => this.#order(`${one}`, `${two}`);
    return this.#compare;
  }

  #order(one, two) {
    if (one === two) return 0;
    const { sensitivity } = this.#settings;
    const [first, second] = [this.#keyOf(one), this.#keyOf(two)];
    const primary = compareTexts(first.primary, second.primary);
    if (primary || sensitivity === "base") return primary;
    const secondary = sensitivity === "case" ? 0 : compareTexts(first.secondary, second.secondary);
    if (secondary || sensitivity === "accent") return secondary;
    return this.#cased(compareTexts(first.tertiary, second.tertiary));
  }

  /** Small letters come first, unless the option is `upper`. */
  #cased(variant) {
    return this.#settings.caseFirst === "upper" ? 0 - variant : variant;
  }

  /** Cached, because sorting compares each text repeatedly. */
  #keyOf(text) {
    let key = this.#keys.get(text);
    if (key === undefined) {
      if (this.#keys.size >= MOST_KEYS) this.#keys.clear();
      key = keyOf(text, this.#settings);
      if (text.length <= LONGEST_KEPT) this.#keys.set(text, key);
    }
    return key;
  }

  resolvedOptions() {
    const { locale, usage, sensitivity, ignorePunctuation, numeric, caseFirst } = this.#settings;
    return { locale, usage, sensitivity, ignorePunctuation, collation: "default", numeric, caseFirst };
  }
}

export const Collator = asService(CollatorObject, "Collator", { needsNew: false });

const MOST_KEPT = 32;
const kept = new Map();

function collatorFor(locales, options) {
  const isPlain = options === undefined && (locales === undefined || typeof locales === "string");
  const known = isPlain ? kept.get(locales) : undefined;
  if (known) return known;
  const collator = new Collator(locales, options);
  if (isPlain && kept.size < MOST_KEPT) kept.set(locales, collator);
  return collator;
}

const { localeCompare } = {
  localeCompare(that, locales = undefined, options = undefined) {
    if (this === undefined || this === null) {
      throw new TypeError("String.prototype.localeCompare called on null or undefined");
    }
    return collatorFor(locales, options).compare(this, that);
  },
};

Object.defineProperty(String.prototype, "localeCompare", {
  value: localeCompare,
  writable: true,
  configurable: true,
});
