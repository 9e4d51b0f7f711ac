// Reads the order of characters from Node.

/** Latin letters, punctuation and symbols that texts of the known languages contain. */
const RANGES = [
  [0x09, 0x0d],
  [0x20, 0x7e],
  [0xa0, 0x17f],
  [0x2010, 0x2027],
  [0x2030, 0x203a],
  [0x20a0, 0x20c0],
  [0x2190, 0x2193],
  [0x3000, 0x3002],
];
const MARKS = [0x300, 0x345];
const TAILORED = ["sv", "es", "pl", "de", "fr", "it", "pt", "nl"];

const charsOf = (ranges) =>
  ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index)),
  );

const root = new Intl.Collator("en");
const rootBase = new Intl.Collator("en", { sensitivity: "base" });
const isLetter = (char) => /\p{L}/u.test(char);
const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/** Characters, in order, that are neither letters nor equal to their decomposition. */
function symbolOrder() {
  const chars = charsOf(RANGES).filter((char) => {
    if (/[\p{L}\p{M}]/u.test(char) || rootBase.compare(char, "") === 0) return false;
    const apart = char.normalize("NFKD");
    return apart === char || rootBase.compare(char, apart) !== 0;
  });
  return chars.sort(root.compare).join("");
}

/** Letters that count as one or two others: `ß` as `ss`. */
function expansions() {
  const pairs = [...LETTERS].flatMap((first) => ["", ...LETTERS].map((second) => first + second));
  const entries = charsOf(RANGES)
    .filter((char) => isLetter(char) && char === char.toLowerCase() && char.normalize("NFKD") === char)
    .filter((char) => !LETTERS.includes(char))
    .map((char) => [char, pairs.find((pair) => rootBase.compare(char, pair) === 0)]);
  return Object.fromEntries(entries.filter(([, pair]) => pair));
}

/** Letters without a plain equivalent: the letters that they follow. */
function placesOf(locale) {
  const base = new Intl.Collator(locale, { sensitivity: "base" });
  const chars = charsOf(RANGES).filter((char) => isLetter(char) && char === char.toLowerCase());
  const known = expansions();
  const plainOf = (char) => known[char] ?? char.normalize("NFKD").replace(/\p{M}/gu, "");
  const isEqual = (char) => [...LETTERS].some((letter) => base.compare(letter, char) === 0);
  const isPlaced = (char) => base.compare(char, plainOf(char)) !== 0 || (!known[char] && isAlone(char));
  const placed = chars.filter(isPlaced);
  const groups = placed
    .filter((char) => !LETTERS.includes(char) && !isEqual(char))
    .sort(base.compare)
    .map((char) => [char, [...LETTERS].findLast((letter) => base.compare(letter, char) <= 0) ?? ""]);
  return groups.reduce((list, [char, letter]) => {
    const last = list.at(-1);
    if (last && base.compare(last[1][0], char) === 0) last[1] += char;
    else list.push([letter, char]);
    return list;
  }, []);
}

/** Letters that a language orders as a different letter: `ü` as `y`. */
function ownExpansions(locale) {
  const base = new Intl.Collator(locale, { sensitivity: "base" });
  const entries = charsOf(RANGES)
    .filter((char) => isLetter(char) && char === char.toLowerCase() && char.normalize("NFD").length > 1)
    .map((char) => [char, [...LETTERS].find((letter) => base.compare(letter, char) === 0)]);
  const isOther = ([char, letter]) => letter && letter !== char.normalize("NFD")[0];
  return Object.fromEntries(entries.filter(isOther));
}

const isAlone = (char) => char.normalize("NFKD") === char && !LETTERS.includes(char);

export function collationData() {
  const [first, last] = MARKS;
  const marks = charsOf([[first, last]]).sort((a, b) => root.compare(`a${a}`, `a${b}`));
  const usual = placesOf("en");
  const tailored = TAILORED.map((locale) => [locale, placesOf(locale)]);
  const different = tailored.filter(([, places]) => JSON.stringify(places) !== JSON.stringify(usual));
  return {
    symbols: symbolOrder(),
    marks: marks.join(""),
    expansions: expansions(),
    ownExpansions: Object.fromEntries(
      TAILORED.map((locale) => [locale, ownExpansions(locale)]).filter(([, own]) => Object.keys(own).length),
    ),
    places: { root: usual, ...Object.fromEntries(different) },
  };
}
