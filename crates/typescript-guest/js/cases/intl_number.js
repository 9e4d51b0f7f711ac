// Cases of `Intl.NumberFormat`, `Intl.PluralRules` and `toLocaleString` of numbers.

const LOCALES = [
  "en-US",
  "en-GB",
  "de-DE",
  "fr-FR",
  "es-ES",
  "it-IT",
  "pt-BR",
  "nl-NL",
  "ja-JP",
  "zh-CN",
  "sv-SE",
  "pl-PL",
];
const BARE = ["en", "de", "fr", "es", "it", "pt", "nl", "ja", "zh", "sv", "pl"];
const literal = JSON.stringify;

const VALUES = `
  [0, -0, 1, -1, 5, 12, 123, 999, 1000, 1234.5, -1234.567, 12345.6789, 0.5, 0.05, 0.0005, -0.0001, 1.005, 2.5,
  3.5, 99.995,
  999999, 1e6, 1234567.891, 123456789, 12345678901, 1e15, 1e21, 1.5e-7, 123456789012345680000,
  NaN, Infinity, -Infinity,
  9007199254740993n, "123456789012345678901234567890.125", "0x1f", "abc", "", null, true]`;
const COUNTS = `
  [0, 1, 2, 3, 5, 11, 21, 22, 25, 101, 1.0, 1.5, 0.5, -1, -2, 1000, 1e6, 2e6, 1234567, 1234.56]`;

/** Options whose results every locale must agree on. */
const groups = {
  decimal: ["VALUES", {}],
  "no grouping": ["VALUES", { useGrouping: false }],
  "always grouping": ["COUNTS", { useGrouping: "always" }],
  "min2 grouping": ["VALUES", { useGrouping: "min2" }],
  percent: ["VALUES", { style: "percent" }],
  "percent with decimals": [
    "VALUES",
    { style: "percent", maximumFractionDigits: 2, minimumFractionDigits: 1 },
  ],
  "two decimals": ["VALUES", { minimumFractionDigits: 2, maximumFractionDigits: 2 }],
  "no decimals": ["VALUES", { maximumFractionDigits: 0 }],
  significant: ["VALUES", { maximumSignificantDigits: 3 }],
  "least significant": ["VALUES", { minimumSignificantDigits: 4, maximumSignificantDigits: 6 }],
  "least whole": ["COUNTS", { minimumIntegerDigits: 4 }],
  "always signed": ["VALUES", { signDisplay: "always" }],
  "signed except zero": ["VALUES", { signDisplay: "exceptZero", maximumFractionDigits: 1 }],
  "never signed": ["VALUES", { signDisplay: "never" }],
  "negative signed": ["VALUES", { signDisplay: "negative", maximumFractionDigits: 0 }],
  "signed percent": ["COUNTS", { style: "percent", signDisplay: "always" }],
  "currency name": ["COUNTS", { style: "currency", currency: "EUR", currencyDisplay: "name" }],
  "compact short": ["VALUES", { notation: "compact" }],
  "compact long": ["VALUES", { notation: "compact", compactDisplay: "long" }],
  "compact with decimals": ["VALUES", { notation: "compact", maximumFractionDigits: 2 }],
  "compact significant": [
    "VALUES",
    { notation: "compact", minimumSignificantDigits: 3, maximumSignificantDigits: 3 },
  ],
  "compact currency": ["COUNTS", { notation: "compact", style: "currency", currency: "USD" }],
  "compact signed": ["COUNTS", { notation: "compact", compactDisplay: "long", signDisplay: "always" }],
  "compact percent": ["COUNTS", { notation: "compact", style: "percent" }],
  "currency name without decimals": [
    "COUNTS",
    { style: "currency", currency: "USD", currencyDisplay: "name", maximumFractionDigits: 0 },
  ],
  "scientific currency": ["COUNTS", { style: "currency", currency: "EUR", notation: "scientific" }],
  "compact accounting": [
    "COUNTS",
    { style: "currency", currency: "EUR", currencySign: "accounting", notation: "compact" },
  ],
  "compact long unit": [
    "COUNTS",
    { style: "unit", unit: "day", unitDisplay: "long", notation: "compact", compactDisplay: "long" },
  ],
  scientific: ["VALUES", { notation: "scientific" }],
  engineering: ["VALUES", { notation: "engineering", maximumFractionDigits: 1 }],
};
const CURRENCIES = [
  "EUR",
  "USD",
  "GBP",
  "JPY",
  "CHF",
  "CNY",
  "INR",
  "KRW",
  "CAD",
  "BRL",
  "PLN",
  "SEK",
  "MXN",
  "KWD",
  "TRY",
  "XYZ",
];
const UNITS = [
  "kilometer",
  "meter",
  "centimeter",
  "mile",
  "foot",
  "inch",
  "kilogram",
  "gram",
  "pound",
  "ounce",
  "liter",
  "milliliter",
  "celsius",
  "fahrenheit",
  "percent",
  "degree",
  "second",
  "millisecond",
  "minute",
  "hour",
  "day",
  "week",
  "month",
  "year",
  "byte",
  "kilobyte",
  "megabyte",
  "gigabyte",
  "terabyte",
  "bit",
  "acre",
  "hectare",
  "gallon",
  "fluid-ounce",
  "stone",
  "yard",
  "kilometer-per-hour",
  "mile-per-hour",
  "meter-per-second",
  "mile-per-gallon",
  "liter-per-kilometer",
];

const withValues = (values, options, locale) =>
  `
    const f = new Intl.NumberFormat(${literal(locale)}, ${literal(options)});
    return ${values === "VALUES" ? VALUES : COUNTS}.map((v) => f.format(v));`;

/** Groups in which languages differ only by symbols run in three languages. */
const EVERYWHERE =
  /^(decimal|percent|two decimals|always signed|currency name.*|compact (?!acc|sig|with).*)$/;
const SOME = ["en-US", "de-DE", "sv-SE"];

const perLocale = LOCALES.flatMap((locale) => [
  ...Object.entries(groups)
    .filter(([name]) => EVERYWHERE.test(name) || SOME.includes(locale))
    .map(([name, [values, options]]) => ({
      name: `${locale} ${name}`,
      code: withValues(values, options, locale),
    })),
  {
    name: `${locale} currencies`,
    code: `
      return ${literal(CURRENCIES)}.map((currency) => ["symbol", "narrowSymbol",
      "code"].flatMap((currencyDisplay) =>
      ["standard", "accounting"].flatMap((currencySign) => ["auto", "always",
      "never"].flatMap((signDisplay) => [1234.5, -0.25, 0].map((v) =>
      new Intl.NumberFormat(${literal(locale)}, { style: "currency", currency, currencyDisplay, currencySign,
      signDisplay }).format(v))))));`,
  },
  {
    name: `${locale} names of currencies`,
    code: `
      return ${literal(CURRENCIES.slice(0, -1))}.map((currency) => [0, 1, 2, 5, 1.5].map((v) =>
      new Intl.NumberFormat(${literal(locale)}, { style: "currency", currency,
      currencyDisplay: "name" }).format(v)));`,
  },
  ...["short", "long", "narrow"].map((unitDisplay) => ({
    name: `${locale} units ${unitDisplay}`,
    code: `
      return ${literal(UNITS)}.map((unit) => [0, 1, -1, 2, 5, 1.5, 1234.5].map((v) =>
      new Intl.NumberFormat(${literal(locale)}, { style: "unit", unit: unit,
      unitDisplay: ${literal(unitDisplay)} }).format(v)));`,
  })),
  {
    name: `${locale} parts`,
    code: `
      return [{}, { style: "percent" }, { style: "currency", currency: "EUR" }, { style: "currency",
      currency: "CHF", currencySign: "accounting" },
      { style: "currency", currency: "USD", currencyDisplay: "name" }, { style: "unit",
      unit: "kilometer-per-hour", unitDisplay: "long" },
      { style: "unit", unit: "celsius" }, { notation: "compact" }, { notation: "compact",
      compactDisplay: "long" }, { notation: "scientific" },
      { notation: "compact", style: "currency", currency: "EUR" }, { signDisplay: "always" }]
      .map((o) => [-1234567.891, 0.00012, 5, NaN,
      Infinity].map((v) => new Intl.NumberFormat(${literal(locale)}, o).formatToParts(v)));`,
  },
  {
    name: `${locale} plural rules`,
    code: `
      return ["cardinal", "ordinal"].map((type) => [{}, { minimumFractionDigits: 1 },
      { maximumFractionDigits: 0 }].map((o) => {
      const r = new Intl.PluralRules(${literal(locale)}, { type, ...o });
      return [[...Array(130).keys(), 200, 211, 800, 880, 1000, 1000000, 2000000, 1.5, 1.04, 0.5, -1, -3, 1e15,
      NaN, Infinity].map((n) => r.select(n)).join(" "), r.resolvedOptions()];
      }));`,
  },
]);

const general = {
  "bare languages": `
    return ${literal(BARE)}.map((l) => [new Intl.NumberFormat(l).resolvedOptions().locale,
    (1234567.891).toLocaleString(l), (0.5).toLocaleString(l, { style: "percent" })]);`,
  toLocaleString: `
    return [(1234.5).toLocaleString(), (1234.5).toLocaleString("de"), (1234.5).toLocaleString(undefined,
    { style: "currency", currency: "USD" }), 12345678901234567890n.toLocaleString("fr"),
    (5n).toLocaleString(), NaN.toLocaleString(), (0).toLocaleString("en", { minimumFractionDigits: 2 })];`,
  "array toLocaleString": `return [[1234.5, 2].toLocaleString("de"), [1, [2, 3000]].toLocaleString()];`,
  "toLocaleString of a string": `Number.prototype.toLocaleString.call("a");`,
  "formatting functions": `
    const { format } = new Intl.NumberFormat("de"); return [[1.5, 2000].map(format),
    new Intl.NumberFormat().format === new Intl.NumberFormat().format, format.name,
    (() => { const f = new Intl.NumberFormat(); return f.format === f.format; })()];`,
  "without new": `
    return [Intl.NumberFormat("de").format(1.5), Intl.NumberFormat("de") instanceof Intl.NumberFormat];`,
  values: `
    const f = new Intl.NumberFormat("en"); return [f.format(), f.format(undefined), f.format("1e3"),
    f.format(" 12 "), f.format("1,5"), f.format({ valueOf: () => 7 }), f.format([5]), f.format(new Date(5)),
    f.format("-0"), f.format("Infinity"), f.format("1e400"), f.format("0b101"), f.format(".5"),
    f.format("5."), f.format("+7"), f.format("--7")];`,
  symbol: `try { new Intl.NumberFormat("en").format(Symbol("a")); } catch (e) { return e.name; }`,
  "rounding modes": `
    return ["ceil", "floor", "expand", "trunc", "halfCeil", "halfFloor", "halfExpand", "halfTrunc",
    "halfEven"].map((roundingMode) => [1.25, -1.25, 1.35, 1.24, -1.26, 0.05, -0.05, 0, 9.95,
    "1.2500001"].map((v) => new Intl.NumberFormat("en", { maximumFractionDigits: 1,
    roundingMode }).format(v)));`,
  "rounding increments": `
    return [1, 2, 5, 10, 25, 50, 100, 500].map((roundingIncrement) => [1.23, 1.27, -1.225, 0.024, 10.999,
    1234.375].map((v) => new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2,
    roundingIncrement }).format(v)));`,
  "rounding priority": `
    return ["morePrecision", "lessPrecision"].map((roundingPriority) => [1.23456, 123.456, 12345.678, 0,
    0.00123, 99.999].map((v) => new Intl.NumberFormat("en", { maximumFractionDigits: 2,
    maximumSignificantDigits: 3, roundingPriority }).format(v)));`,
  "trailing zeros": `
    return [1, 1.5, 1.001, 0].map((v) => new Intl.NumberFormat("en", { minimumFractionDigits: 2,
    trailingZeroDisplay: "stripIfInteger", maximumFractionDigits: 2 }).format(v));`,
  "currency digits": `
    return ["USD", "JPY", "KWD", "CLP", "HUF", "XYZ"].map((currency) => [new Intl.NumberFormat("en",
    { style: "currency", currency }).format(1234.5678), new Intl.NumberFormat("en", { style: "currency",
    currency, maximumFractionDigits: 0 }).format(1234.5678), new Intl.NumberFormat("en", { style: "currency",
    currency, minimumFractionDigits: 3 }).format(1.5)]);`,
  "resolved options": `
    return [{}, { style: "percent" }, { style: "currency", currency: "eur", currencyDisplay: "name" },
    { style: "unit", unit: "liter", unitDisplay: "long" }, { notation: "compact" }, { notation: "compact",
    compactDisplay: "long", maximumFractionDigits: 1 }, { notation: "scientific" },
    { maximumSignificantDigits: 3 }, { minimumFractionDigits: 5 }, { maximumFractionDigits: "2" },
    { useGrouping: false, signDisplay: "always", roundingMode: "ceil" },
    { minimumIntegerDigits: 3 }].map((o) => new Intl.NumberFormat("en-GB", o).resolvedOptions());`,
  "grouping words": `
    return [true, false, "true", "false", "always", "auto", "min2", null, 0, "",
    undefined].map((u) => new Intl.NumberFormat("en", { useGrouping: u }).resolvedOptions().useGrouping);`,
  locales: `
    return [["de-DE", "en"], [], undefined, "DE-de", ["xx", "fr"], "zz", "en-u-nu-latn",
    "de-x-private"].map((l) => new Intl.NumberFormat(l).resolvedOptions().locale);`,
  supportedLocalesOf: `
    return [Intl.NumberFormat.supportedLocalesOf(["de", "EN-us", "fr-FR"]),
    Intl.NumberFormat.supportedLocalesOf("ja"), Intl.PluralRules.supportedLocalesOf([])];`,
  getCanonicalLocales: `
    return [Intl.getCanonicalLocales(["EN-us", "zh-hans-cn", "DE", "en-US"]),
    Intl.getCanonicalLocales("pt-br"), Intl.getCanonicalLocales()];`,
  classes: `
    return [Object.prototype.toString.call(Intl), Object.prototype.toString.call(new Intl.NumberFormat()),
    Intl.NumberFormat.name, Intl.NumberFormat.length];`,
  "plural select range": `
    return [new Intl.PluralRules("en").selectRange(1, 2), new Intl.PluralRules("fr").selectRange(0, 1)];`,
};
const failing = [
  `new Intl.NumberFormat("x")`,
  `new Intl.NumberFormat("en_US")`,
  `new Intl.NumberFormat([5])`,
  `new Intl.NumberFormat(null)`,
  `new Intl.NumberFormat("en", null)`,
  `new Intl.NumberFormat("en", { style: "foo" })`,
  `new Intl.NumberFormat("en", { style: "currency" })`,
  `new Intl.NumberFormat("en", { style: "currency", currency: "x" })`,
  `new Intl.NumberFormat("en", { style: "unit" })`,
  `new Intl.NumberFormat("en", { style: "unit", unit: "foo" })`,
  `new Intl.NumberFormat("en", { style: "unit", unit: "kilometer-per-foo" })`,
  `new Intl.NumberFormat("en", { maximumFractionDigits: 101 })`,
  `new Intl.NumberFormat("en", { maximumFractionDigits: -1 })`,
  `new Intl.NumberFormat("en", { minimumFractionDigits: 5, maximumFractionDigits: 2 })`,
  `new Intl.NumberFormat("en", { maximumFractionDigits: NaN })`,
  `new Intl.NumberFormat("en", { minimumSignificantDigits: 0 })`,
  `new Intl.NumberFormat("en", { minimumSignificantDigits: 5, maximumSignificantDigits: 2 })`,
  `new Intl.NumberFormat("en", { minimumIntegerDigits: 0 })`,
  `new Intl.NumberFormat("en", { useGrouping: "foo" })`,
  `new Intl.NumberFormat("en", { roundingIncrement: 3 })`,
  `new Intl.NumberFormat("en", { roundingMode: "foo" })`,
  `new Intl.NumberFormat("en", { notation: "foo" })`,
  `new Intl.NumberFormat("en", { currencyDisplay: "foo" })`,
  `new Intl.NumberFormat("en", { signDisplay: "foo" })`,
  `new Intl.NumberFormat("en", { localeMatcher: "x" })`,
  `new Intl.PluralRules("en", { type: "foo" })`,
  `Intl.PluralRules("en")`,
  `(5).toLocaleString("x")`,
  `(5).toLocaleString("en", { style: "currency" })`,
  `Intl.getCanonicalLocales("a")`,
  `Intl.getCanonicalLocales([1])`,
];

export default [
  ...perLocale,
  ...Object.entries(general).map(([name, code]) => ({ name, code })),
  ...failing.map((code) => ({ name: code, code: `${code};` })),
];
