// The global `Intl`.

import { Collator } from "./intl_collator.js";
import { DateTimeFormat } from "./intl_date.js";
import { ListFormat } from "./intl_list.js";
import { canonicalLocales } from "./intl_locale.js";
import { NumberFormat } from "./intl_number.js";
import { PluralRules } from "./intl_plural.js";
import { RelativeTimeFormat } from "./intl_relative.js";

const members = {
  getCanonicalLocales: canonicalLocales,
  DateTimeFormat,
  NumberFormat,
  Collator,
  PluralRules,
  RelativeTimeFormat,
  ListFormat,
};

export const Intl = {};
for (const [name, value] of Object.entries(members)) {
  Object.defineProperty(Intl, name, { value, writable: true, configurable: true });
}
Object.defineProperty(Intl, Symbol.toStringTag, { value: "Intl", configurable: true });
