// The global `Intl`.

import { canonicalLocales } from "./intl_locale.js";
import { NumberFormat } from "./intl_number.js";
import { PluralRules } from "./intl_plural.js";

const members = { getCanonicalLocales: canonicalLocales, NumberFormat, PluralRules };

export const Intl = {};
for (const [name, value] of Object.entries(members)) {
  Object.defineProperty(Intl, name, { value, writable: true, configurable: true });
}
Object.defineProperty(Intl, Symbol.toStringTag, { value: "Intl", configurable: true });
