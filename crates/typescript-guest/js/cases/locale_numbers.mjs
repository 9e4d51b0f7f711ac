// Reads a language's formats of numbers, currencies, units, relative times and lists from Node.

/** Currencies of the largest economies and of the languages; others appear by their code. */
export const CURRENCIES = (
  "AED ARS AUD BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HUF IDR ILS INR ISK JPY KRW KWD MXN MYR " +
  "NGN NOK NZD PHP PKR PLN RON RUB SAR SEK SGD THB TRY TWD UAH USD VND ZAR"
).split(" ");
const COMPOUND_UNITS = [
  "kilometer-per-hour",
  "mile-per-hour",
  "meter-per-second",
  "liter-per-kilometer",
  "mile-per-gallon",
];
const LARGEST_COMPACT = 19;
const LARGEST_SMALL = 100;
const WIDTHS = ["short", "long", "narrow"];
const RELATIVE_UNITS = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"];
const SAMPLES = [1, 2, 5, 0, 1.5, 0.5, 3, 7, 11, 1000000];
const NUMBER_PARTS = new Set(["integer", "group", "decimal", "fraction", "minusSign", "infinity", "nan"]);

const isNumber = ({ type }) => NUMBER_PARTS.has(type);

/** For each plural category of a language, a number that has it. */
function pluralSamples(locale) {
  const rules = new Intl.PluralRules(locale);
  const { pluralCategories } = rules.resolvedOptions();
  return pluralCategories.map((category) => [category, SAMPLES.find((n) => rules.select(n) === category)]);
}

/** Replaces the number in parts by `{0}` and joins the texts of the others. */
function template(parts, textOf = ({ value }) => value) {
  const first = parts.findIndex(isNumber);
  const texts = parts.map((part, index) => {
    if (!isNumber(part)) return textOf(part);
    return index === first ? "{0}" : "";
  });
  return texts.join("");
}

/** Keeps one text where all categories agree. */
function byPlural(locale, make) {
  return joinForms(pluralSamples(locale).map(([category, sample]) => [category, make(sample)]));
}

function joinForms(forms) {
  const other = (forms.find(([category]) => category === "other") ?? forms[0])[1];
  const different = forms.filter(([category, text]) => category !== "other" && text !== other);
  return different.length ? { ...Object.fromEntries(different), other } : other;
}

const numberParts = (locale, value, options) => new Intl.NumberFormat(locale, options).formatToParts(value);
const partValue = (parts, type) => parts.find((part) => part.type === type)?.value;

function symbols(locale) {
  const large = numberParts(locale, -12345.5);
  const scientific = numberParts(locale, 1e-5, { notation: "scientific" });
  return {
    decimal: partValue(large, "decimal"),
    group: partValue(large, "group"),
    minus: partValue(large, "minusSign"),
    exponent: partValue(scientific, "exponentSeparator"),
    leastGrouped: partValue(numberParts(locale, 1234), "group") ? 4 : 5,
    percent: template(numberParts(locale, 0.5, { style: "percent" })),
    compactPercent: template(numberParts(locale, 0.5, { style: "percent", notation: "compact" })),
  };
}

/** The place of symbol, number and sign, for positive and negative amounts. */
function currencyPatterns(locale, currencySign) {
  const textOf = ({ type, value }) => (type === "currency" ? "¤" : value);
  const pattern = (value) => {
    const parts = numberParts(locale, value, { style: "currency", currency: "EUR", currencySign });
    const signed = parts.map((part) => (part.type === "minusSign" ? { type: "sign", value: "-" } : part));
    return template(signed, textOf);
  };
  return [pattern(1), pattern(-1)];
}

function currencySymbols(locale) {
  const entries = CURRENCIES.map((currency) => {
    const [symbol, narrow] = ["symbol", "narrowSymbol"].map((currencyDisplay) => {
      return partValue(numberParts(locale, 1, { style: "currency", currency, currencyDisplay }), "currency");
    });
    if (symbol === narrow) return [currency, symbol];
    return [currency, [symbol, narrow]];
  });
  return Object.fromEntries(entries.filter(([currency, symbol]) => currency !== symbol));
}

function currencyNames(locale) {
  const options = {
    style: "currency",
    currencyDisplay: "name",
    minimumFractionDigits: 0,
    maximumFractionDigits: 2,
  };
  const entries = CURRENCIES.map((currency) => [
    currency,
    byPlural(locale, (n) => partValue(numberParts(locale, n, { ...options, currency }), "currency")),
  ]);
  const parts = numberParts(locale, 5, { ...options, currency: "EUR" });
  const pattern = template(parts, ({ type, value }) => (type === "currency" ? "¤" : value));
  return { currencyName: pattern, currencyNames: Object.fromEntries(entries) };
}

function units(locale) {
  const simple = Intl.supportedValuesOf("unit").filter((unit) => unit !== "mile-scandinavian");
  const names = [...simple, ...COMPOUND_UNITS];
  const entries = names.map((unit) => {
    const forms = WIDTHS.map((unitDisplay) =>
      byPlural(locale, (n) => template(numberParts(locale, n, { style: "unit", unit, unitDisplay }))),
    );
    const isSame = JSON.stringify(forms[2]) === JSON.stringify(forms[0]);
    return [unit, isSame ? forms.slice(0, 2) : forms];
  });
  return Object.fromEntries(entries);
}

/** The number of removed digits and the text around the rest, for each power of ten where they change. */
function compact(locale, compactDisplay) {
  const rows = [];
  const options = { notation: "compact", compactDisplay, useGrouping: false, maximumFractionDigits: 1 };
  for (let exponent = 3; exponent <= LARGEST_COMPACT; exponent++) {
    const parts = numberParts(locale, 2 * 10 ** exponent, options);
    const digits = partValue(parts, "integer").length;
    const scale = exponent + 1 - digits;
    const textOf = (n) => template(numberParts(locale, n * 10 ** scale, options));
    const forms = compactForms(locale, digits, textOf);
    if (scale && JSON.stringify(rows.at(-1)?.slice(1)) !== JSON.stringify([scale, forms])) {
      rows.push([exponent, scale, forms]);
    }
  }
  return rows;
}

/** The text of each plural category, asked for with numbers of so many digits; "mille" is only for one. */
function compactForms(locale, digits, textOf) {
  const rules = new Intl.PluralRules(locale);
  const first = 10 ** (digits - 1);
  const numbers = Array.from({ length: LARGEST_SMALL }, (_, index) => first + index).filter(
    (n) => n < first * 10,
  );
  const samples = [...numbers, first + 0.2, first + 1.2].filter((n) => textOf(n).includes("{0}"));
  const categories = rules.resolvedOptions().pluralCategories;
  const known = categories
    .map((category) => [category, samples.find((n) => rules.select(n) === category)])
    .filter(([, sample]) => sample !== undefined);
  const forms = joinForms(known.map(([category, sample]) => [category, textOf(sample)]));
  const single = digits === 1 ? textOf(1) : "{0}";
  if (single.includes("{0}")) return forms;
  return { ...(typeof forms === "string" ? { other: forms } : forms), 1: single };
}

function relativeTimes(locale) {
  const entries = RELATIVE_UNITS.map((unit) => {
    const styles = ["long", "short", "narrow"].map((style) => {
      const format = new Intl.RelativeTimeFormat(locale, { style });
      const auto = new Intl.RelativeTimeFormat(locale, { style, numeric: "auto" });
      const make = (sign) => byPlural(locale, (n) => template(format.formatToParts(sign * n, unit)));
      const words = [-2, -1, 0, 1, 2].map((n) => [n, auto.formatToParts(n, unit)]);
      const named = words.filter(([, parts]) => parts.length === 1).map(([n, [{ value }]]) => [n, value]);
      return [make(1), make(-1), Object.fromEntries(named)];
    });
    return [unit, styles.map((style, index) => (sameAsBefore(styles, index) ? 0 : style))];
  });
  return Object.fromEntries(entries);
}

function sameAsBefore(list, index) {
  return index > 0 && JSON.stringify(list[index]) === JSON.stringify(list[index - 1]);
}

/** The texts between two items, and between the first, middle and last of more. */
function lists(locale) {
  const kinds = {};
  for (const type of ["conjunction", "disjunction", "unit"]) {
    kinds[type] = ["long", "short", "narrow"].map((style) => {
      const format = new Intl.ListFormat(locale, { type, style });
      const [, pair] = format.format(["A", "B"]).match(/^A(.*)B$/);
      const [, start, end] = format.format(["A", "B", "C", "D"]).match(/^A(.*)B.*C(.*)D$/);
      return [pair, start, end];
    });
  }
  return kinds;
}

/** Everything about numbers of one language. */
export function numberData(locale) {
  return {
    numbers: symbols(locale),
    currency: {
      standard: currencyPatterns(locale, "standard"),
      accounting: currencyPatterns(locale, "accounting"),
    },
    ...currencyNames(locale),
    currencySymbols: currencySymbols(locale),
    units: units(locale),
    compact: { short: compact(locale, "short"), long: compact(locale, "long") },
    relative: relativeTimes(locale),
    lists: lists(locale),
  };
}

/** Currencies with another number of decimals than two. */
export function currencyDigits() {
  const entries = Intl.supportedValuesOf("currency").map((currency) => {
    const options = { style: "currency", currency };
    return [currency, new Intl.NumberFormat("en", options).resolvedOptions().maximumFractionDigits];
  });
  return Object.fromEntries(entries.filter(([, digits]) => digits !== 2));
}
