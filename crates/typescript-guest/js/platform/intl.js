// The global `Intl`.

import { Collator } from "./intl_collator.js";
import { DateTimeFormat } from "./intl_date.js";
import { ListFormat } from "./intl_list.js";
import "./intl_lists.js";
import { canonicalLocales } from "./intl_locale.js";
import { NumberFormat } from "./intl_number.js";
import { PluralRules } from "./intl_plural.js";
import { RelativeTimeFormat } from "./intl_relative.js";
import { Segmenter } from "./intl_segmenter.js";
import { Locale } from "./intl_tag.js";
import { LOCALES, ZONE_GROUPS } from "./locale_data.js";

/** The named values; programs may use more zones and currencies than these. */
const VALUES = {
  calendar: () => ["gregory"],
  collation: () => ["default"],
  currency: () => Object.keys(LOCALES.en.currencyNames),
  numberingSystem: () => ["latn"],
  timeZone: () => [...Object.keys(ZONE_GROUPS), ...Object.values(ZONE_GROUPS).flat()].sort(),
  unit: () => Object.keys(LOCALES.en.units).filter((unit) => !unit.includes("-per-")),
};

function supportedValuesOf(key) {
  const name = `${key}`;
  if (!Object.hasOwn(VALUES, name)) throw new RangeError(`Invalid key : ${name}`);
  return VALUES[name]();
}

function getCanonicalLocales(locales = undefined) {
  return canonicalLocales(locales);
}

const members = {
  getCanonicalLocales,
  supportedValuesOf,
  DateTimeFormat,
  NumberFormat,
  Collator,
  PluralRules,
  RelativeTimeFormat,
  ListFormat,
  Locale,
  Segmenter,
};

export const Intl = {};
for (const [name, value] of Object.entries(members)) {
  Object.defineProperty(Intl, name, { value, writable: true, configurable: true });
}
Object.defineProperty(Intl, Symbol.toStringTag, { value: "Intl", configurable: true });
