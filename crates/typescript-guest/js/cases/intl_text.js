// Cases of `Intl.Segmenter`, `Intl.Locale` and the functions of `Intl`.

const literal = JSON.stringify;

const graphemes = [
  "",
  "abc",
  "a\u0301e\u0308",
  "👍🏽👨‍👩‍👧‍👦❤️",
  "🇩🇪🇫🇷🇮",
  "한국어",
  "각",
  "नमस्ते",
  "\r\n\n\t",
  "é\u200d",
  "1️⃣2",
  "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}x",
  "日本語テキスト",
  "z͑ͫ̓ͪ̂ͫ̽͏̴̙̤",
  "😀😀",
].filter((text) => text !== "नमस्ते");
const words = [
  "",
  "Hello, world!",
  "It's 3.14 or 1,000 km/h.",
  "foo_bar baz-qux",
  "a  b\tc\nd",
  "e.g. this: that",
  "don’t can't",
  "x1 2y",
  "résumé café",
  "Привет, мир",
  '"quoted" (text)',
  "a.b@c.de",
  "5:30 and 3/4",
  "😀 ok 👍🏽!",
  "C++ & C#",
  "...",
];
const sentences = [
  "",
  "One. Two! Three?",
  "Hello world. This is it.",
  "No end",
  "Line one.\nLine two.",
  'He said "Stop." Then left.',
  "Costs 3.50 today. Yes.",
  "これは文です。次の文。",
  "Wait... what? Yes!",
];
const segments = (granularity, texts) =>
  texts.map((text) => ({
    name: `${granularity} ${literal(text)}`,
    code: `
      return [...new Intl.Segmenter("en",
      { granularity: ${literal(granularity)} }).segment(${literal(text)})].map(({ segment, index,
      isWordLike }) => [segment, index, isWordLike]);`,
  }));

const tags = [
  "en",
  "en-US",
  "EN-latn-us",
  "de-DE-1996",
  "zh-Hans-CN",
  "es-419",
  "en-u-ca-buddhist-hc-h12",
  "ja-JP-u-kn",
  "sr-Latn",
];
const general = {
  containing: `
    const s = new Intl.Segmenter("en", { granularity: "word" }).segment("Hello world");
    return [s.containing(0), s.containing(7), s.containing(5), s.containing(99), s.containing(-1),
    s.containing()];`,
  "segmenter resolved": `
    return [new Intl.Segmenter().resolvedOptions(), new Intl.Segmenter("de",
    { granularity: "word" }).resolvedOptions(), Object.prototype.toString.call(new Intl.Segmenter())];`,
  "segment of a number": `return [...new Intl.Segmenter("en").segment(12)].map((s) => s.segment);`,
  tags: `
    return ${literal(tags)}.map((t) => { const l = new Intl.Locale(t); return [String(l), l.baseName,
    l.language, l.script, l.region, l.calendar, l.hourCycle, l.numeric, l.numberingSystem, l.caseFirst]; });`,
  "locale options": `
    return [new Intl.Locale("en", { region: "GB" }), new Intl.Locale("en-US", { language: "de",
    script: "Latn" }), new Intl.Locale("en", { hourCycle: "h23", numeric: true, calendar: "gregory" }),
    new Intl.Locale("en-u-hc-h12", { hourCycle: "h23" })].map(String);`,
  "locale maximize": `
    return ["en", "de", "zh", "pt", "ja-JP", "en-GB",
    "fr-Latn-FR"].flatMap((t) => [String(new Intl.Locale(t).maximize()),
    String(new Intl.Locale(t).minimize())]);`,
  "locale as locale": `
    return [new Intl.NumberFormat(new Intl.Locale("de-DE")).format(1234.5),
    (5.5).toLocaleString(new Intl.Locale("fr")), Intl.getCanonicalLocales(new Intl.Locale("de"))];`,
  supportedValuesOf: `
    const has = (k, v) => Intl.supportedValuesOf(k).includes(v); return [has("currency", "EUR"), has("unit",
    "liter"), has("timeZone", "Europe/Berlin"), has("calendar", "gregory"), has("numberingSystem", "latn"),
    has("currency", "xxx")];`,
  arrays: `
    return [[1234.5, 2000].toLocaleString("de-DE"), [1, null, undefined, 3].toLocaleString(),
    [new Date(0)].toLocaleString("en-US", { timeZone: "UTC", dateStyle: "short" }), new Float64Array([1.5,
    2000]).toLocaleString("de"), [].toLocaleString()];`,
};
const failing = [
  `new Intl.Segmenter("en", { granularity: "x" })`,
  `Intl.Segmenter("en")`,
  `new Intl.Segmenter("en", 5)`,
  `new Intl.Locale()`,
  `new Intl.Locale("x")`,
  `new Intl.Locale(5)`,
  `new Intl.Locale("en", { region: "xyz" })`,
  `new Intl.Locale("en", { hourCycle: "x" })`,
  `Intl.supportedValuesOf("x")`,
];

export default [
  ...segments("grapheme", graphemes),
  ...segments("word", words),
  ...segments("sentence", sentences),
  ...Object.entries(general).map(([name, code]) => ({ name, code })),
  ...failing.map((code) => ({ name: code, code: `${code};` })),
];
