// `Intl.Locale`: a language tag with its parts.

import { keywordsOf, parseTag, textOption } from "./intl_locale.js";

const SERVICE = "Intl.Locale";
const PARTS = {
  language: /^(?:[a-z]{2,3}|[a-z]{5,8})$/i,
  script: /^[a-z]{4}$/i,
  region: /^(?:[a-z]{2}|\d{3})$/i,
};
const KEYWORDS = {
  calendar: "ca",
  collation: "co",
  hourCycle: "hc",
  caseFirst: "kf",
  numeric: "kn",
  numberingSystem: "nu",
};
const HOUR_CYCLES = ["h11", "h12", "h23", "h24"];
const CASE_FIRST = ["upper", "lower", "false"];
/** Scripts and regions that languages have by themselves. */
const LIKELY = {
  en: "Latn-US",
  de: "Latn-DE",
  fr: "Latn-FR",
  es: "Latn-ES",
  it: "Latn-IT",
  pt: "Latn-BR",
  nl: "Latn-NL",
  ja: "Jpan-JP",
  zh: "Hans-CN",
  sv: "Latn-SE",
  pl: "Latn-PL",
};

/** Replaces parts of a tag by options. */
function withParts(parts, options) {
  const changed = { ...parts };
  for (const [name, form] of Object.entries(PARTS)) {
    const value = options[name];
    if (value === undefined) continue;
    if (!form.test(`${value}`)) throw new RangeError("Incorrect locale information provided");
    changed[name] = `${value}`;
  }
  const { language, script, region, variants } = changed;
  return parseTag([language, script, region].filter(Boolean).join("-") + variants);
}

/** The keywords of a tag, replaced by options. */
function readKeywords(extensions, options) {
  const keywords = keywordsOf(extensions);
  for (const [name, key] of Object.entries(KEYWORDS)) {
    const allowed = { hourCycle: HOUR_CYCLES, caseFirst: CASE_FIRST }[name];
    const value = textOption("locale", options, name, allowed);
    if (value !== undefined) keywords.set(key, name === "numeric" && value === "true" ? "" : value);
  }
  return keywords;
}

class LocaleObject {
  #parts;
  #keywords;

  constructor(tag, options = undefined) {
    if (typeof tag !== "string" && (typeof tag !== "object" || tag === null)) {
      throw new TypeError("First argument to Intl.Locale constructor can't be empty or missing");
    }
    const parsed = parseTag(`${tag}`);
    const given = options === undefined ? {} : Object(options);
    this.#parts = withParts(parsed, given);
    this.#keywords = readKeywords(parsed.extensions, given);
  }

  get baseName() {
    return this.#parts.base;
  }

  get language() {
    return this.#parts.language;
  }

  get script() {
    return this.#parts.script;
  }

  get region() {
    return this.#parts.region;
  }

  get numeric() {
    return this.#keywords.has("kn") && this.#keywords.get("kn") !== "false";
  }

  /** The accessors of the other keywords. */
  static {
    for (const [name, key] of Object.entries(KEYWORDS)) {
      if (name === "numeric") continue;
      const get = {
        get [name]() {
          return this.#keywords.get(key);
        },
      };
      Object.defineProperty(this.prototype, name, {
        get: Object.getOwnPropertyDescriptor(get, name).get,
        configurable: true,
      });
    }
  }

  maximize() {
    const { language, script, region } = this.#parts;
    const [likelyScript, likelyRegion] = LIKELY[language]?.split("-") ?? [];
    const full = [language, script ?? likelyScript, region ?? likelyRegion].filter(Boolean).join("-");
    return new Locale(full + this.#extension());
  }

  minimize() {
    const { language, script, region } = this.#parts;
    const [likelyScript, likelyRegion] = LIKELY[language]?.split("-") ?? [];
    const kept = [language, script === likelyScript ? "" : script, region === likelyRegion ? "" : region];
    return new Locale(kept.filter(Boolean).join("-") + this.#extension());
  }

  #extension() {
    const words = [...this.#keywords].sort(([a], [b]) => (a < b ? -1 : 1));
    return words.length ? `-u-${words.flat().filter(Boolean).join("-")}` : "";
  }

  toString() {
    return this.#parts.base + this.#extension();
  }
}

/** Unlike the services, a locale has no `supportedLocalesOf`. */
export const Locale = LocaleObject;
Object.defineProperty(Locale, "name", { value: "Locale" });
Object.defineProperty(Locale.prototype, Symbol.toStringTag, { value: SERVICE, configurable: true });
