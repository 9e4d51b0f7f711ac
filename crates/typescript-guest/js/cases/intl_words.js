// Cases of `Intl.RelativeTimeFormat` and `Intl.ListFormat`.

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
const literal = JSON.stringify;

const perLocale = LOCALES.flatMap((locale) => [
  ...["long", "short", "narrow"].flatMap((style) => [
    ...["always", "auto"].map((numeric) => ({
      name: `${locale} relative ${style} ${numeric}`,
      code: `
        const f = new Intl.RelativeTimeFormat(${literal(locale)}, { style: ${literal(style)},
        numeric: ${literal(numeric)} });
        return ["second", "minute", "hour", "day", "week", "month", "quarter", "year"].map((unit) =>
        [-1234.5678, -21, -5, -3, -2, -1.5, -1, -0, 0, 0.5, 1, 2, 3, 5, 12, 22,
        1000000].map((n) => f.format(n, unit)));`,
    })),
    {
      name: `${locale} lists ${style}`,
      code: `
        return ["conjunction", "disjunction", "unit"].map((type) => {
        const f = new Intl.ListFormat(${literal(locale)}, { type, style: ${literal(style)} });
        return [[[], ["A"], ["A", "B"], ["A", "B", "C"], ["A", "B", "C", "D", "E"]].map((l) => f.format(l)),
        f.formatToParts(["A", "B", "C"])];
        });`,
    },
  ]),
  {
    name: `${locale} relative parts`,
    code: `
      const f = new Intl.RelativeTimeFormat(${literal(locale)}, { numeric: "auto" });
      return [f.formatToParts(1, "day"), f.formatToParts(-12345.678, "years"), f.formatToParts(10, "minutes"),
      f.resolvedOptions()];`,
  },
]);
const general = {
  units: `
    return ["second", "seconds", "minute", "minutes", "hours", "days", "weeks", "months", "quarters",
    "years"].map((u) => new Intl.RelativeTimeFormat("en").format(3, u));`,
  values: `
    const f = new Intl.RelativeTimeFormat("en"); return [f.format("5", "day"), f.format(null, "day"),
    f.format(1.0001, "day"), f.format(true, "day")];`,
  "Spanish lists": `
    return ["conjunction", "disjunction"].map((type) => ["Isla", "hielo", "hijo", "y", "otro", "hotel", "8",
    "80 x", "11", "11x", "11 x", "hia", "Hiato", "íx", "Ii"].map((x) => new Intl.ListFormat("es",
    { type }).format(["a", "b", x])));`,
  "lists of iterables": `
    return [new Intl.ListFormat("en").format("ab"), new Intl.ListFormat("en").format(new Set(["a", "b"])),
    new Intl.ListFormat("en").format()];`,
  resolved: `
    return [new Intl.ListFormat("de-DE", { type: "unit", style: "narrow" }).resolvedOptions(),
    new Intl.RelativeTimeFormat("de", { style: "short", numeric: "auto" }).resolvedOptions()];`,
  tags: `
    return [String(new Intl.ListFormat()), String(new Intl.RelativeTimeFormat()), Intl.ListFormat.name,
    Intl.RelativeTimeFormat.supportedLocalesOf(["de"])];`,
};
const failing = [
  `new Intl.RelativeTimeFormat("en").format(1, "foo")`,
  `new Intl.RelativeTimeFormat("en").format(NaN, "day")`,
  `new Intl.RelativeTimeFormat("en").format(1)`,
  `new Intl.RelativeTimeFormat("en").format()`,
  `new Intl.RelativeTimeFormat("en").format(Infinity, "day")`,
  `new Intl.RelativeTimeFormat("en", { style: "foo" })`,
  `new Intl.RelativeTimeFormat("en", { numeric: "foo" })`,
  `new Intl.RelativeTimeFormat("en", null)`,
  `Intl.RelativeTimeFormat("en")`,
  `new Intl.ListFormat("en").format([1])`,
  `new Intl.ListFormat("en", { type: "x" })`,
  `new Intl.ListFormat("en", { style: "x" })`,
  `new Intl.ListFormat("en", 5)`,
  `new Intl.ListFormat("en", null)`,
  `Intl.ListFormat()`,
  `new Intl.ListFormat("x")`,
];

export default [
  ...perLocale,
  ...Object.entries(general).map(([name, code]) => ({ name, code })),
  ...failing.map((code) => ({ name: code, code: `${code};` })),
];
