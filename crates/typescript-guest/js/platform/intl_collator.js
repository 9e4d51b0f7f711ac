// `Intl.Collator` and `localeCompare`.

import { asciiWeights, compareLists, keyOf, lettersOf } from "./intl_collation.js";
import { asService, readMatcher, resolveLocale, textOption } from "./intl_locale.js";

const SERVICE = "Intl.Collator";
const SENSITIVITIES = ["base", "accent", "case", "variant"];
const CASE_FIRST = ["upper", "lower", "false"];
const MOST_KEYS = 4096;
const FIRST_MARK = 0x80;

const ascii = asciiWeights();

/** The weight of ASCII at an index; 0 for other characters and for those that do not count. */
function weightAt(text, index) {
  const code = text.charCodeAt(index);
  return code < FIRST_MARK ? ascii[code] : 0;
}

/** Whether a text ends here, or goes on with ASCII, so that no accent can follow. */
const endsOrIsPlain = (text, index) => index >= text.length || weightAt(text, index) > 0;

/** Compares two texts of ASCII; `undefined` when anything else decides. */
function compareAscii(one, two) {
  const length = Math.min(one.length, two.length);
  let variant = 0;
  for (let index = 0; index < length; index++) {
    const first = weightAt(one, index);
    const second = weightAt(two, index);
    if (first === 0 || second === 0) return undefined;
    if (first !== second) {
      if (!endsOrIsPlain(one, index + 1) || !endsOrIsPlain(two, index + 1)) return undefined;
      return { order: first < second ? -1 : 1, variant: 0 };
    }
    if (variant === 0) variant = Math.sign(two.charCodeAt(index) - one.charCodeAt(index));
  }
  if (!endsOrIsPlain(one, length) || !endsOrIsPlain(two, length)) return undefined;
  return { order: Math.sign(one.length - two.length), variant };
}

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
    const { numeric, ignorePunctuation } = this.#settings;
    const quick = numeric || ignorePunctuation ? undefined : compareAscii(one, two);
    if (quick === undefined) return this.#orderKeys(this.#keyOf(one), this.#keyOf(two));
    return quick.order || this.#cased(quick.variant);
  }

  /** Small letters come before large ones, unless they shall not. */
  #cased(variant) {
    const { sensitivity, caseFirst } = this.#settings;
    if (sensitivity === "base" || sensitivity === "accent") return 0;
    return (caseFirst === "upper" ? -variant : variant) || 0;
  }

  #orderKeys(one, two) {
    const { sensitivity } = this.#settings;
    const primary = compareLists(one.primary, two.primary);
    if (primary || sensitivity === "base") return primary;
    const secondary = sensitivity === "case" ? 0 : compareLists(one.secondary, two.secondary);
    return secondary || this.#cased(compareLists(one.tertiary, two.tertiary));
  }

  /** Sorting compares a text again and again. */
  #keyOf(text) {
    let key = this.#keys.get(text);
    if (key === undefined) {
      if (this.#keys.size >= MOST_KEYS) this.#keys.clear();
      key = keyOf(text, this.#settings);
      this.#keys.set(text, key);
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
