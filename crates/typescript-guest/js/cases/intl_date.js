// Cases of `Intl.DateTimeFormat` and `toLocaleString` of dates.

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

const DATES = `
  [Date.UTC(2003, 1, 5, 15, 4, 6, 789), Date.UTC(2024, 11, 31, 0, 0, 0), Date.UTC(1999, 6, 14, 12, 0, 0, 7),
  Date.UTC(2010, 4, 23, 23, 59, 59, 999)]`;
const MONTHS = `Array.from({ length: 12 }, (_, m) => Date.UTC(2021, m, 3 + m * 2, m * 2, m * 5, m * 3, m))`;

/** All choices of widths of some fields. */
function choices(fields) {
  let all = [{}];
  for (const [name, widths] of Object.entries(fields)) {
    all = all.flatMap((options) => [options, ...widths.map((width) => ({ ...options, [name]: width }))]);
  }
  return all.filter((options) => Object.keys(options).length);
}

const digits = ["numeric", "2-digit"];
const names = ["short", "long"];
const dates = choices({ weekday: names, year: digits, month: [...digits, ...names], day: digits }).filter(
  ({ weekday, year, month, day }) => (!weekday || day || (!year && !month)) && (!(day && year) || month),
);
const eras = [
  { year: "numeric" },
  { year: "numeric", month: "short" },
  { year: "numeric", month: "long", day: "numeric" },
  { year: "numeric", month: "numeric", day: "numeric" },
  {},
].map((options) => ({ era: "short", ...options }));
const times = choices({ hour: digits, minute: digits, second: digits, hour12: [true, false] }).filter(
  ({ hour, minute, second }) => (hour || minute || second) && (!(hour && second) || minute),
);
const periods = [{ hour: "numeric" }, { hour: "numeric", minute: "numeric" }].flatMap((options) =>
  ["short", "long", "narrow"].map((dayPeriod) => ({ ...options, dayPeriod, hour12: true })),
);
const common = [
  {},
  { dateStyle: "short" },
  { dateStyle: "medium" },
  { dateStyle: "long" },
  { dateStyle: "full" },
  ...["short", "medium", "long", "full"].flatMap((timeStyle) => [
    { timeStyle },
    { timeStyle, hour12: true },
    { timeStyle, hour12: false },
    ...["short", "medium", "long", "full"].map((dateStyle) => ({ dateStyle, timeStyle })),
  ]),
];
const both = [
  { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" },
  {
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  },
  { year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit" },
  { year: "numeric", month: "long", day: "numeric", hour: "numeric", minute: "2-digit" },
  { weekday: "long", year: "numeric", month: "long", day: "numeric", hour: "numeric", minute: "2-digit" },
  { weekday: "short", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hour12: false },
  {
    weekday: "short",
    year: "numeric",
    month: "short",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hour12: false,
  },
  { month: "short", day: "numeric", hour: "numeric" },
  { month: "long", day: "numeric", hour: "numeric", minute: "2-digit" },
  { weekday: "short", hour: "numeric" },
  { weekday: "long", hour: "numeric", minute: "2-digit" },
  { weekday: "long", hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: true },
  { day: "numeric", hour: "numeric", minute: "numeric" },
  { year: "numeric", hour: "numeric", minute: "numeric" },
  { month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" },
  { hour: "numeric", minute: "numeric", second: "numeric", fractionalSecondDigits: 3 },
  { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 1, hour12: false },
  { minute: "2-digit", second: "2-digit", fractionalSecondDigits: 2 },
  { second: "numeric", fractionalSecondDigits: 3 },
  { fractionalSecondDigits: 3 },
];
const zones = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "America/Los_Angeles",
  "Asia/Tokyo",
  "Asia/Katmandu",
  "Australia/Sydney",
  "America/St_Johns",
];

const formatAll = (locale, options, values) =>
  `
    return ${literal(options)}.map((o) => { const f = new Intl.DateTimeFormat(${literal(locale)},
    { timeZone: "UTC", ...o }); return ${values}.map((d) => f.format(d)); });`;

const perLocale = LOCALES.flatMap((locale) => [
  {
    name: `${locale} dates`,
    code: formatAll(locale, dates, "[Date.UTC(2003, 1, 5), Date.UTC(1987, 10, 21)]"),
  },
  { name: `${locale} eras`, code: formatAll(locale, eras, "[Date.UTC(2003, 1, 5), Date.UTC(-43, 2, 15)]") },
  { name: `${locale} times`, code: formatAll(locale, times, DATES) },
  {
    name: `${locale} periods`,
    code: formatAll(
      locale,
      periods,
      "Array.from({ length: 24 }, (_, h) => Date.UTC(2003, 1, 5, h, h === 12 ? 0 : 7))",
    ),
  },
  { name: `${locale} styles`, code: formatAll(locale, common, DATES) },
  { name: `${locale} dates and times`, code: formatAll(locale, both, DATES) },
  {
    name: `${locale} months and weekdays`,
    code: formatAll(
      locale,
      [
        { month: "long" },
        { month: "short" },
        { month: "narrow" },
        { weekday: "narrow" },
        { weekday: "long", day: "numeric", month: "long" },
        { month: "long", year: "numeric" },
        { month: "short", day: "numeric" },
        { weekday: "short" },
        { weekday: "short", day: "numeric", month: "short", year: "numeric" },
      ],
      MONTHS,
    ),
  },
  {
    name: `${locale} zones`,
    code: `
      return ${literal(zones)}.map((timeZone) => ["short", "long", "shortOffset",
      "longOffset"].map((timeZoneName) => [Date.UTC(2023, 0, 15, 12), Date.UTC(2023, 6, 15, 12)].map((d) => {
      if (timeZoneName === "long" && /Katmandu|Johns/.test(timeZone)) return 0;
      return [{ timeZoneName }, { timeZoneName, hour: "numeric", minute: "numeric", second: "numeric" },
      { timeZoneName, hour: "2-digit", minute: "2-digit", hour12: true }, { timeZoneName, hour: "numeric",
      minute: "2-digit" }, { timeZoneName, month: "long", day: "numeric", year: "numeric",
      hour: "numeric" }].map((o) => new Intl.DateTimeFormat(${literal(locale)}, { timeZone,
      ...o }).format(d));
      })));`,
  },
  {
    name: `${locale} parts`,
    code: `
      const d = Date.UTC(2003, 1, 5, 15, 4, 6, 789);
      return [{}, { dateStyle: "full", timeStyle: "full" }, { weekday: "long", year: "numeric", month: "long",
      day: "numeric", hour: "numeric", minute: "numeric", second: "numeric", fractionalSecondDigits: 3,
      timeZoneName: "short", era: "short" }, { month: "short", day: "2-digit" }, { hour: "numeric",
      hour12: true, dayPeriod: "long" }]
      .filter((o) => !(o.era && ${literal(locale)} !== "en-US")).map((o) => new Intl.DateTimeFormat(${literal(locale)},
      { timeZone: "UTC", ...o }).formatToParts(d));`,
  },
  {
    name: `${locale} methods`,
    code: `
      const d = new Date(Date.UTC(2003, 1, 5, 15, 4, 6, 789)); const l = ${literal(locale)};
      return [d.toLocaleString(l), d.toLocaleDateString(l), d.toLocaleTimeString(l), d.toLocaleDateString(l,
      { weekday: "long", year: "numeric", month: "long", day: "numeric" }),
      d.toLocaleTimeString(l, { hour: "2-digit", minute: "2-digit" }), d.toLocaleString(l,
      { timeZone: "America/New_York" }), d.toLocaleString(l, { hour12: true }), d.toLocaleTimeString(l,
      { hour12: false }),
      d.toLocaleString(l, { dateStyle: "medium", timeStyle: "short" }), d.toLocaleDateString(l,
      { month: "short", day: "numeric" }), d.toLocaleString(l, { month: "long" }), d.toLocaleTimeString(l,
      { timeStyle: "short", timeZone: "Asia/Tokyo" })];`,
  },
  {
    name: `${locale} resolved options`,
    code: `
      return [{}, { hour: "numeric", minute: "2-digit" }, { hour: "numeric", hour12: true },
      { hour: "2-digit", hourCycle: "h23" }, { dateStyle: "full", timeStyle: "long" }, { weekday: "long",
      month: "short", day: "numeric" }, { month: "numeric" }, { second: "numeric",
      fractionalSecondDigits: 2 }, { timeZone: "Europe/Paris", timeZoneName: "long" }, { hour: "numeric",
      dayPeriod: "short", hour12: true }]
      .map((o) => new Intl.DateTimeFormat(${literal(locale)}, o).resolvedOptions());`,
  },
]);

const general = {
  "default locale": `
    const d = new Date(Date.UTC(2003, 1, 5, 15, 4, 6)); return [d.toLocaleString(), d.toLocaleDateString(),
    d.toLocaleTimeString(), d.toLocaleString([], { hour: "2-digit" }), d.toLocaleDateString(undefined,
    { dateStyle: "long" }), new Intl.DateTimeFormat().format(d), new Intl.DateTimeFormat().resolvedOptions()];`,
  "bare languages": `
    return ["en", "de", "fr", "es", "it", "pt", "nl", "ja", "zh", "sv",
    "pl"].map((l) => new Date(Date.UTC(2003, 1, 5, 15, 4, 6)).toLocaleString(l, { dateStyle: "full",
    timeStyle: "short" }));`,
  "invalid date": `
    const d = new Date(NaN); return [d.toLocaleString(), d.toLocaleDateString("de"),
    d.toLocaleTimeString("fr", { hour: "numeric" })];`,
  "zones of hour": `
    return ["Europe/London", "Asia/Calcutta", "Pacific/Auckland", "America/Sao_Paulo", "UTC", "GMT",
    "Etc/UTC", "Etc/GMT+5"].map((timeZone) => new Date(Date.UTC(2024, 2, 31, 1, 30)).toLocaleString("en-US",
    { timeZone }));`,
  "daylight saving": `
    return [0, 1, 2, 3].map((h) => new Date(Date.UTC(2024, 2, 31, h)).toLocaleTimeString("de-DE",
    { timeZone: "Europe/Berlin", timeZoneName: "short" }));`,
  "names of zones": `
    return ["utc", "GMT", "europe/berlin", "america/new_york", "Etc/UTC",
    "America/New_York"].map((timeZone) => new Intl.DateTimeFormat("en",
    { timeZone }).resolvedOptions().timeZone);`,
  "hour cycles": `
    return ["h11", "h12", "h23", "h24"].map((hourCycle) => [0, 11, 12,
    23].map((h) => new Intl.DateTimeFormat("en-US", { hour: "numeric", minute: "numeric", hourCycle,
    timeZone: "UTC" }).format(Date.UTC(2020, 0, 1, h))));`,
  "hour12 wins": `
    return [new Intl.DateTimeFormat("en", { hour: "numeric", hourCycle: "h23",
    hour12: true }).resolvedOptions().hourCycle, new Intl.DateTimeFormat("de", { hour: "numeric",
    hourCycle: "h12" }).format(0)];`,
  "keyword for hours": `
    const f = new Intl.DateTimeFormat("en-US-u-hc-h23", { hour: "numeric", minute: "numeric",
    timeZone: "UTC" }); return [f.format(Date.UTC(2020, 0, 1, 15, 4)), f.resolvedOptions().locale];`,
  years: `
    return [1, 33, 476, 1999, 2000, 12345].map((y) => { const d = new Date(0); d.setUTCFullYear(y, 5, 7);
    return [d.toLocaleDateString("en-US"), d.toLocaleDateString("de-DE", { year: "2-digit", month: "long" })];
    });`,
  "years before Christ": `
    const d = new Date(0); d.setUTCFullYear(-5, 5, 7); return [d.toLocaleDateString("en-US"),
    d.toLocaleDateString("en-US", { era: "short" })];`,
  values: `
    const f = new Intl.DateTimeFormat("en"); return [f.format(0), f.format(null), f.format(true),
    f.format(new Date(864e5 * 40)), f.format({ valueOf: () => 1e12 }), f.format(1.9)];`,
  "format function": `
    const { format } = new Intl.DateTimeFormat("de"); const f = new Intl.DateTimeFormat(); return [[0,
    1e12].map((x) => format(x)), f.format === f.format];`,
  "without new": `
    return [Intl.DateTimeFormat("de").format(0), Intl.DateTimeFormat("de") instanceof Intl.DateTimeFormat,
    Intl.DateTimeFormat.name, String(new Intl.DateTimeFormat())];`,
  defaults: `
    const d = new Date(Date.UTC(2003, 1, 5, 15, 4, 6)); return [d.toLocaleDateString("en",
    { hour: "numeric" }), d.toLocaleTimeString("en", { year: "numeric" }), d.toLocaleTimeString("en",
    { timeZoneName: "short" }), d.toLocaleDateString("en", { timeZoneName: "short" }), d.toLocaleString("en",
    { hour: "numeric" }), d.toLocaleString("en", { month: "long" }), d.toLocaleString("en",
    { dateStyle: "short" }), d.toLocaleString("en", { timeStyle: "short" })];`,
  "en-CA style of ISO dates": `return new Date(Date.UTC(2003, 1, 5)).toLocaleDateString("sv-SE");`,
  "zones after long dates": `
    return ["de-DE", "en-US", "fr-FR"].map((l) => new Date(0).toLocaleDateString(l,
      { weekday: "short", year: "numeric", month: "long", day: "2-digit", timeZoneName: "short" }));`,
  "equal range": `return new Intl.DateTimeFormat("en").formatRange(0, 1000);`,
  range: `
    return new Intl.DateTimeFormat("en", { timeZone: "UTC" }).formatRange(Date.UTC(2007, 0, 10),
    Date.UTC(2008, 4, 20));`,
  supported: `return Intl.DateTimeFormat.supportedLocalesOf(["de-DE", "EN"]);`,
};
const failing = [
  `new Intl.DateTimeFormat("en").format(NaN)`,
  `new Intl.DateTimeFormat("en").format("2020-01-01")`,
  `new Intl.DateTimeFormat("en").format(8.65e15)`,
  `new Intl.DateTimeFormat("en", { timeZone: "Foo/Bar" })`,
  `new Intl.DateTimeFormat("en", { timeZone: "" })`,
  `new Intl.DateTimeFormat("en", { dateStyle: "foo" })`,
  `new Intl.DateTimeFormat("en", { dateStyle: "full", year: "numeric" })`,
  `new Intl.DateTimeFormat("en", { timeStyle: "full", hour: "numeric" })`,
  `new Intl.DateTimeFormat("en", { month: "foo" })`,
  `new Intl.DateTimeFormat("en", { fractionalSecondDigits: 4 })`,
  `new Intl.DateTimeFormat("en", { hourCycle: "x" })`,
  `new Intl.DateTimeFormat("en", { timeZoneName: "x" })`,
  `new Intl.DateTimeFormat("en", null)`,
  `new Intl.DateTimeFormat("en", { calendar: "x" })`,
  `new Date().toLocaleDateString("en", { timeStyle: "short" })`,
  `new Date().toLocaleTimeString("en", { dateStyle: "short" })`,
  `Date.prototype.toLocaleString.call(5)`,
  `new Date(0).toLocaleString("x")`,
  `new Date(0).toLocaleString("en", { timeZone: "No/Where" })`,
];

export default [
  ...perLocale,
  ...Object.entries(general).map(([name, code]) => ({ name, code })),
  ...failing.map((code) => ({ name: code, code: `${code};` })),
];
