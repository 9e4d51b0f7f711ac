// Cases of `Intl.Collator` and `localeCompare`.

const LOCALES = ["en-US", "de-DE", "fr-FR", "es-ES", "it-IT", "pt-BR", "nl-NL", "sv-SE", "pl-PL"];
const literal = JSON.stringify;

const WORDS = [
  "zebra",
  "Äpfel",
  "Apfel",
  "apfel",
  "äpfel",
  "Zebra",
  "résumé",
  "resume",
  "Resume",
  "Résumé",
  "ñandú",
  "nandu",
  "naranja",
  "coté",
  "côte",
  "cote",
  "côté",
  "straße",
  "strasse",
  "Strasse",
  "Ångström",
  "angstrom",
  "öl",
  "ol",
  "oz",
  "zoo",
  "łódź",
  "lodz",
  "lód",
  "ćma",
  "cma",
  "czas",
  "a",
  "A",
  "b",
  "B",
  "aa",
  "AA",
  "aB",
  "Ab",
  "ab",
  "",
  " ",
  "_x",
  "-x",
  "1",
  "10",
  "2",
  "a1",
  "a10",
  "a2",
  "file 10.txt",
  "file 2.txt",
  "File 1.txt",
  "co-op",
  "coop",
  "co op",
  "œuvre",
  "oeuvre",
  "ærø",
  "aero",
  "naïve",
  "naive",
  "über",
  "uber",
  "üben",
];
const SYMBOLS = [..." _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789"].concat([
  "€",
  "£",
  "a",
  "Z",
  "é",
  "…",
  "§",
  "°",
  "²",
]);

const sorted = (locale, options) =>
  `return ${literal(WORDS)}.sort(new Intl.Collator(${literal(locale)}, ${literal(options)}).compare);`;

const perLocale = LOCALES.flatMap((locale) => [
  { name: `${locale} sort`, code: sorted(locale, {}) },
  { name: `${locale} sort numerically`, code: sorted(locale, { numeric: true }) },
  ...["base", "accent", "case", "variant"].map((sensitivity) => ({
    name: `${locale} sensitivity ${sensitivity}`,
    code: `
      const c = new Intl.Collator(${literal(locale)}, { sensitivity: ${literal(sensitivity)} });
      return [["a", "A"], ["a", "á"], ["a", "b"], ["ä", "Ä"], ["ß", "ss"], ["ö", "o"], ["ñ", "n"], ["å", "a"],
      ["ł", "l"], ["é", "e\\u0301"], ["a b", "ab"], ["ø", "o"], ["œ", "oe"], ["Z", "z"], ["", "a"], ["ü",
      "y"]].map(([x, y]) => [c.compare(x, y), c.compare(y, x)]);`,
  })),
]);
const general = {
  symbols: `return ${literal(SYMBOLS)}.reverse().sort(new Intl.Collator("en").compare).join("");`,
  localeCompare: `
    return [["a", "b"], ["b", "a"], ["a", "a"], ["a", "B"], ["A", "a"], ["résumé", "resume"], ["", "a"], ["a",
    ""], ["10", "2"], ["a", "ä"], ["z", "ä"]].map(([x, y]) => x.localeCompare(y));`,
  "localeCompare locales": `
    return [["z", "ä", "de"], ["z", "ä", "sv"], ["n", "ñ", "es"], ["o", "ñ", "es"]].map(([x, y,
    l]) => x.localeCompare(y, l));`,
  "localeCompare options": `
    return ["a".localeCompare("A", undefined, { sensitivity: "base" }), "a2".localeCompare("a10", undefined,
    { numeric: true }), "a".localeCompare("á", "en", { sensitivity: "base" }), "a".localeCompare("á", "en",
    { sensitivity: "accent" })];`,
  "localeCompare values": `
    return ["5".localeCompare(5), "null".localeCompare(null), "undefined".localeCompare(),
    String.prototype.localeCompare.call(1, 2)];`,
  "localeCompare of null": `String.prototype.localeCompare.call(null, "a");`,
  "case first": `
    return ["upper", "lower", "false"].map((caseFirst) => ["b", "a", "B", "A", "á",
    "Á"].sort(new Intl.Collator("en", { caseFirst }).compare));`,
  "ignore punctuation": `
    const c = new Intl.Collator("en", { ignorePunctuation: true }); return [c.compare("co-op", "coop"),
    c.compare("a b", "ab"), c.compare("a.", "b"), ["c-b", "ca", "c d", "cc"].sort(c.compare)];`,
  numbers: `
    const c = new Intl.Collator(undefined, { numeric: true }); return ["v1.10.0", "v1.9.0", "v1.2", "v1",
    "v10", "v2", "v01", "v001", "v0", "1", "01", "a1b2", "a1b10"].sort(c.compare);`,
  "numeric keyword": `
    return [new Intl.Collator("en-u-kn").compare("2", "10"),
    new Intl.Collator("en-u-kn-true").resolvedOptions().numeric,
    new Intl.Collator("en-u-kn-false").compare("2", "10")];`,
  resolved: `
    return [new Intl.Collator().resolvedOptions(), new Intl.Collator("de", { sensitivity: "base",
    numeric: true, caseFirst: "upper", ignorePunctuation: true, usage: "search" }).resolvedOptions()];`,
  "compare function": `
    const { compare } = new Intl.Collator("de"); const c = new Intl.Collator(); return [["b",
    "a"].sort(compare), c.compare === c.compare, Intl.Collator("de").compare("a", "b"),
    Intl.Collator("de") instanceof Intl.Collator, String(c)];`,
  "equal forms": `
    return ["\\u00e9".localeCompare("e\\u0301"), "\\u00c5".localeCompare("A\\u030a"),
    "ﬁ".localeCompare("fi") !== 0, "x\\u0000y".localeCompare("xy")];`,
  accents: `return [..."aàáâãäåāăą"].reverse().sort((x, y) => x.localeCompare(y)).join("");`,
  "other scripts": `
    return ["яблоко", "арбуз", "ёлка", "ель", "βήτα", "άλφα", "apple", "Ω",
    "Я"].sort(new Intl.Collator("en").compare);`,
  kana: `return ["い", "ア", "あ", "イ", "か", "カ"].sort(new Intl.Collator("en").compare);`,
  many: `
    const w = Array.from({ length: 5000 }, (_, i) => "item " + ((i * 7919) % 5000)); w.sort((a,
    b) => a.localeCompare(b)); return [w[0], w[1], w[2500], w.at(-1)];`,
  "many numbers": `
    const w = Array.from({ length: 2000 }, (_, i) => "é" + ((i * 7919) % 2000));
    w.sort(new Intl.Collator("fr", { numeric: true }).compare); return [w[0], w[1], w[1500], w.at(-1)];`,
  supported: `return Intl.Collator.supportedLocalesOf(["de-DE"]);`,
};
const failing = [
  `new Intl.Collator("en", { usage: "x" })`,
  `new Intl.Collator("en", { sensitivity: "x" })`,
  `new Intl.Collator("en", { caseFirst: "x" })`,
  `new Intl.Collator("x")`,
  `new Intl.Collator("en", null)`,
  `"a".localeCompare("b", "x")`,
];

export default [
  ...perLocale,
  ...Object.entries(general).map(([name, code]) => ({ name, code })),
  ...failing.map((code) => ({ name: code, code: `${code};` })),
];
