// Language tags and options, as every class of `Intl` reads them.

import { LOCALES } from "./locale_data.js";

export const DEFAULT_LOCALE = "en-US";

const LANGUAGE = "(?:[a-z]{2,3}|[a-z]{5,8})";
const REST = "((?:-[a-z0-9]{2,8})*)((?:-[a-wy-z0-9](?:-[a-z0-9]{2,8})+)*)(-x(?:-[a-z0-9]{1,8})+)?";
const TAG = new RegExp(`^(${LANGUAGE})(-[a-z]{4})?(-(?:[a-z]{2}|[0-9]{3}))?${REST}$`, "i");
const LONGEST_TAG = 255;

/** Adds the language's data that a variant does not override. */
function merge(base, other) {
  const isPlain = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  if (!isPlain(base) || !isPlain(other)) return other === undefined ? base : other;
  const merged = { ...base };
  for (const [key, value] of Object.entries(other)) merged[key] = merge(base[key], value);
  return merged;
}

const known = new Map();
for (const [locale, data] of Object.entries(LOCALES)) {
  known.set(locale, data.parent ? merge(LOCALES[data.parent], data) : data);
}

/** English outside of the United States is written much as in Great Britain. */
const AMERICAN = new Set(["US", "AS", "GU", "MH", "MP", "PH", "PR", "UM", "VI"]);

/** The data for a tag without extensions: of the language, if only that is known. */
function dataOf(language, region) {
  if (language === "en" && region !== undefined && !AMERICAN.has(region)) return known.get("en-GB");
  return known.get(language);
}

/** Takes a language tag apart and gives its parts their usual case. */
export function parseTag(tag) {
  const found = tag.length <= LONGEST_TAG ? TAG.exec(tag) : null;
  if (!found) throw new RangeError("Incorrect locale information provided");
  const [, language, script, region, variants, extensions, rest] = found;
  const parts = {
    language: language.toLowerCase(),
    script: script && script[1].toUpperCase() + script.slice(2).toLowerCase(),
    region: region?.slice(1).toUpperCase(),
    variants: variants.toLowerCase(),
    extensions: (extensions + (rest ?? "")).toLowerCase(),
  };
  const base = [parts.language, parts.script, parts.region].filter(Boolean).join("-") + parts.variants;
  return { ...parts, base, tag: base + parts.extensions };
}

/** The text of one requested locale: a string, or an object of `Intl.Locale`. */
function tagOf(value) {
  if (typeof value !== "string" && (typeof value !== "object" || value === null)) {
    throw new TypeError("Language ID should be string or object.");
  }
  return parseTag(`${value}`).tag;
}

/** The requested locales in their usual spelling, each one once. */
export function canonicalLocales(locales) {
  if (locales === undefined) return [];
  if (locales === null) throw new TypeError("Cannot convert undefined or null to object");
  const isOne = typeof locales === "string" || locales[Symbol.toStringTag] === "Intl.Locale";
  return [...new Set((isOne ? [locales] : Array.from(locales)).map(tagOf))];
}

/** Reads the keywords of a Unicode extension: `-u-nu-latn-hc-h23`. */
export function keywordsOf(extensions) {
  const keywords = new Map();
  const unicode = /-u((?:-[a-z0-9]{2,8})+)/.exec(extensions)?.[1] ?? "";
  let key;
  for (const word of unicode.split("-").filter(Boolean)) {
    if (word.length === 2) keywords.set((key = word), "");
    else if (key) keywords.set(key, [keywords.get(key), word].filter(Boolean).join("-"));
  }
  return keywords;
}

/** Keywords that a service knows stay in its locale: `-u-hc-h12-nu-latn`. */
function withKeywords(base, keywords, supported) {
  const kept = Object.keys(supported).filter((key) => supported[key].includes(keywords.get(key)));
  return kept.length ? `${base}-u-${kept.map((key) => `${key}-${keywords.get(key)}`).join("-")}` : base;
}

/** The first requested locale whose language is known, with its data and keywords. */
export function resolveLocale(locales, supported = {}) {
  for (const tag of canonicalLocales(locales)) {
    const { base, language, region, extensions } = parseTag(tag);
    const data = dataOf(language, region);
    if (!data) continue;
    const keywords = keywordsOf(extensions);
    return { locale: withKeywords(base, keywords, supported), language, data, keywords };
  }
  return { locale: DEFAULT_LOCALE, language: "en", data: known.get("en"), keywords: new Map() };
}

/** Whether the platform has data for a locale's language. */
const isKnown = (tag) => known.has(parseTag(tag).language);

/** The `supportedLocalesOf` of a service. */
export function supportedLocalesOf(service) {
  return function supportedLocalesOf(locales, options) {
    readMatcher(service, Object(options ?? {}));
    return canonicalLocales(locales).filter(isKnown);
  };
}

/** Reads a text option; a value outside of the allowed ones is an error. */
export function textOption(service, options, name, allowed, fallback) {
  const value = options[name];
  if (value === undefined) return fallback;
  const text = String(value);
  if (allowed && !allowed.includes(text)) {
    throw new RangeError(`Value ${text} out of range for ${service} options property ${name}`);
  }
  return text;
}

export function readMatcher(service, options) {
  textOption(service, options, "localeMatcher", ["lookup", "best fit"], "best fit");
}

/** Reads a whole number between two limits. */
export function numberOption(options, name, least, most, fallback) {
  const value = options[name];
  if (value === undefined) return fallback;
  const number = Number(value);
  if (!(number >= least && number <= most)) throw new RangeError(`${name} value is out of range.`);
  return Math.floor(number);
}

/**
 * Makes a class a service of `Intl`: with its name and tag, and with `supportedLocalesOf`. The older services
 * can be called without `new`.
 */
export function asService(Class, name, { needsNew = true } = {}) {
  const service = `Intl.${name}`;
  const maker = function (...inputs) {
    if (needsNew && new.target === undefined) throw new TypeError(`Constructor ${service} requires 'new'`);
    return Reflect.construct(Class, inputs, new.target ?? maker);
  };
  const define = (target, key, value, writable = true) =>
    Object.defineProperty(target, key, { value, writable, configurable: true });
  define(maker, "name", name, false);
  define(maker, "length", 0, false);
  define(maker, "supportedLocalesOf", supportedLocalesOf(service));
  Object.defineProperty(maker, "prototype", { value: Class.prototype, writable: false });
  define(Class.prototype, "constructor", maker);
  define(Class.prototype, Symbol.toStringTag, service, false);
  return maker;
}
