// Writes `platform/locale_data.js`: symbols, patterns and names of the languages that the platform knows.
//
//   TZ=UTC LANG=C node cases/make_locales.mjs
//
// All data comes from Node's `Intl`.

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { collationData } from "./locale_collation.mjs";
import { dateData, zoneAliases, zoneGroups, zoneNames } from "./locale_dates.mjs";
import { currencyDigits, numberData } from "./locale_numbers.mjs";

const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "ja", "zh", "sv", "pl"];
const VARIANTS = { "en-GB": "en" };
/** One zone for each set of zones with names of their own. */
const ZONES = (
  "UTC America/New_York America/Chicago America/Denver America/Phoenix America/Los_Angeles " +
  "America/Anchorage Pacific/Honolulu America/Halifax America/Sao_Paulo " +
  "America/Argentina/Buenos_Aires Europe/London Europe/Dublin Europe/Berlin Europe/Athens " +
  "Europe/Moscow Africa/Johannesburg Asia/Dubai Asia/Calcutta Asia/Shanghai Asia/Tokyo Asia/Seoul " +
  "Asia/Singapore Asia/Hong_Kong Australia/Sydney Pacific/Auckland Asia/Jerusalem"
).split(" ");

const ALIASES = (
  "Asia/Kolkata Asia/Kathmandu Asia/Ho_Chi_Minh Europe/Kyiv America/Buenos_Aires " +
  "America/Indiana/Indianapolis US/Eastern US/Central US/Mountain US/Pacific US/Alaska US/Hawaii " +
  "EST MST HST EST5EDT CST6CDT MST7MDT PST8PDT GB Japan Singapore Hongkong PRC ROK Israel NZ CET " +
  "EET WET Etc/UTC Etc/GMT GMT Zulu UCT Universal Greenwich"
).split(" ");

/** Names of zones that are more than a distance from UTC, which the platform writes itself. */
function zones(locale, offset) {
  const isOffset = (name) => name.startsWith(offset.pattern.split("{0}")[0]) && /\d/.test(name);
  const kept = (name) => (isOffset(name) ? 0 : name);
  return Object.fromEntries(ZONES.map((zone) => [zone, zoneNames(locale, zone).map(kept)]));
}

function localeData(locale) {
  const dates = dateData(locale);
  return { ...numberData(locale), ...dates, zones: zones(locale, dates.offset) };
}

/** The differences of a variant from its language. */
function difference(base, other) {
  if (JSON.stringify(base) === JSON.stringify(other)) return undefined;
  const isPlain = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  if (!isPlain(base) || !isPlain(other)) return other;
  const keys = [...new Set([...Object.keys(base), ...Object.keys(other)])];
  const entries = keys.map((key) => [key, key in other ? difference(base[key], other[key]) : null]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

const locales = Object.fromEntries(LANGUAGES.map((locale) => [locale, localeData(locale)]));
for (const [locale, parent] of Object.entries(VARIANTS)) {
  locales[locale] = { parent, ...difference(locales[parent], localeData(locale)) };
}

const lines = [
  "// Symbols, patterns and names of languages; written by `cases/make_locales.mjs`.",
  "// The data is CLDR of Unicode as Node contains it, under the license in `LICENSE-UNICODE`.",
  "",
];
lines.push(`export const CURRENCY_DIGITS = ${JSON.stringify(currencyDigits())};`, "");
lines.push(`export const ZONE_GROUPS = ${JSON.stringify(zoneGroups(ZONES))};`, "");
lines.push(`export const ZONE_ALIASES = ${JSON.stringify(zoneAliases(ALIASES))};`, "");
lines.push(`export const COLLATION = ${JSON.stringify(collationData())};`, "", "export const LOCALES = {");
for (const [locale, data] of Object.entries(locales)) {
  lines.push(`  ${JSON.stringify(locale)}: {`);
  for (const [key, value] of Object.entries(data)) lines.push(`    ${key}: ${JSON.stringify(value)},`);
  lines.push("  },");
}
lines.push("};", "");
writeFileSync(fileURLToPath(new URL("../platform/locale_data.js", import.meta.url)), lines.join("\n"));
