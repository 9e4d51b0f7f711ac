// Keys of texts by which they are ordered: letters first, then accents, then case.

import { COLLATION } from "./locale_data.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const LETTER_WEIGHT = 0x1000;
const LETTER_STEP = 0x40;
const OTHER_WEIGHT = 0x2000;
const OTHER_BITS = 12;
const LENGTH_WEIGHT = 0x400;
const PLAIN = 1;
const ACCENTED = 900;
const UPPER = 2;
const VARIANT = 3;
const KATAKANA = [0x30a1, 0x30f6];
const KANA_DISTANCE = 0x60;

const { fromCharCode } = String;

const symbolWeights = new Map([...COLLATION.symbols].map((char, index) => [char, index + 1]));
const markWeights = new Map([...COLLATION.marks].map((char, index) => [char, PLAIN + 1 + index]));
const DIGIT_WEIGHT = symbolWeights.get("0");

const letterWeight = (letter) => LETTER_WEIGHT + LETTER_STEP * (LETTERS.indexOf(letter) + 1);

/** The weights of letters that a language puts between the plain ones. */
function placedWeights(places) {
  const weights = new Map([...LETTERS].map((letter) => [letter, letterWeight(letter)]));
  let next = 0;
  let before = "";
  for (const [letter, chars] of places) {
    next = letter === before ? next + 1 : 1;
    before = letter;
    for (const char of chars) weights.set(char, letterWeight(letter) + next);
  }
  return weights;
}

/** The letters of a language: their weights, and those that count as others. */
function makeLetters(language) {
  const { places, expansions, ownExpansions } = COLLATION;
  const weights = placedWeights(places[language] ?? places.root);
  return { weights, expansions: new Map(Object.entries({ ...expansions, ...ownExpansions[language] })) };
}

const known = new Map();

/** The letters of a language, made once. */
export function lettersOf(language) {
  if (!known.has(language)) known.set(language, makeLetters(language));
  return known.get(language);
}

/** The weights of ASCII as characters. */
const ascii = Array.from({ length: 128 }, (_, code) => {
  const char = fromCharCode(code).toLowerCase();
  const weight = symbolWeights.get(char) ?? (LETTERS.includes(char) ? letterWeight(char) : undefined);
  return weight && fromCharCode(weight);
});

/**
 * Collects the three levels of a text, each as a string of weights, so that the engine compares them. A level
 * that has nothing special stays empty, which orders it before any other.
 */
class Key {
  primary = "";
  secondary = "";
  tertiary = "";
  #isAccented = false;
  #isVaried = false;

  add(weight, accent, variant) {
    this.addPrimary(weight);
    this.secondary += fromCharCode(PLAIN);
    if (accent) this.addAccent(accent);
    this.tertiary += fromCharCode(variant);
    this.#isVaried ||= variant !== PLAIN;
  }

  addPrimary(weight) {
    this.primary += fromCharCode(weight);
  }

  addAccent(weight) {
    this.secondary += fromCharCode(weight);
    this.#isAccented = true;
  }

  /** The levels without what is the same for most texts. */
  finish() {
    const secondary = this.#isAccented ? this.secondary : "";
    return { primary: this.primary, secondary, tertiary: this.#isVaried ? this.tertiary : "" };
  }
}

/** The key of a text of printable ASCII. */
function asciiKey(text) {
  let primary = "";
  for (let index = 0; index < text.length; index++) primary += ascii[text.charCodeAt(index)];
  const isVaried = /[A-Z]/.test(text);
  const tertiary = isVaried ? text.replace(/[^A-Z]/g, "\x01").replace(/[A-Z]/g, "\x02") : "";
  return { primary, secondary: "", tertiary };
}

/** Adds one character to a key. */
function addChar(key, char, letters, variant) {
  const mark = markWeights.get(char);
  if (mark !== undefined) {
    key.addAccent(mark);
    return;
  }
  const lower = char.toLowerCase();
  const own = lower === char ? variant : Math.max(variant, UPPER);
  const weight = letters.weights.get(lower) ?? symbolWeights.get(char);
  if (weight !== undefined) {
    key.add(weight, undefined, own);
    return;
  }
  const expansion = letters.expansions.get(lower);
  if (expansion) {
    addExpansion(key, expansion, letters, own);
    return;
  }
  addOther(key, char, lower, letters, own);
}

/** Letters that count as one or two others differ from them by an accent. */
function addExpansion(key, expansion, letters, variant) {
  for (const [index, letter] of [...expansion].entries()) {
    key.add(letters.weights.get(letter), index === 0 ? ACCENTED : undefined, variant);
  }
}

function addOther(key, char, lower, letters, variant) {
  const apart = char.normalize("NFKD");
  if (apart !== char) {
    const isAccent = char.normalize("NFD") !== char;
    for (const piece of apart) addChar(key, piece, letters, isAccent ? PLAIN : VARIANT);
    return;
  }
  if (/\p{C}/u.test(char)) return;
  const code = lower.codePointAt(0);
  const isKatakana = code >= KATAKANA[0] && code <= KATAKANA[1];
  const shown = isKatakana ? code - KANA_DISTANCE : code;
  key.add(OTHER_WEIGHT + (shown >> OTHER_BITS), undefined, isKatakana ? VARIANT : variant);
  key.addPrimary(OTHER_WEIGHT + (shown & ((1 << OTHER_BITS) - 1)));
}

/** A run of digits counts as a number: longer ones are greater. */
function addNumber(key, digits) {
  const significant = digits.replace(/^0+(?=\d)/, "");
  key.add(DIGIT_WEIGHT, undefined, PLAIN);
  key.addPrimary(Math.min(LENGTH_WEIGHT + significant.length, LETTER_WEIGHT - 1));
  for (const digit of significant) key.addPrimary(symbolWeights.get(digit));
}

/** The key of a text in a language. */
export function keyOf(text, { letters, numeric, ignorePunctuation }) {
  const isPlain = !numeric && !ignorePunctuation && !/[^\x20-\x7e]/.test(text);
  if (isPlain) return asciiKey(text);
  const key = new Key();
  const counted = ignorePunctuation ? text.replace(/[\p{P}\p{Z}\s]/gu, "") : text;
  for (const run of counted.normalize("NFC").split(numeric ? /(\d+)/ : /(?!)/)) {
    if (numeric && /^\d/.test(run)) addNumber(key, run);
    else for (const char of run) addChar(key, char, letters, PLAIN);
  }
  return key.finish();
}
