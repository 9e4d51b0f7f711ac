// Keys of texts by which they are ordered: letters first, then accents, then case.

import { COLLATION } from "./locale_data.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const LETTER_WEIGHT = 10000;
const LETTER_STEP = 100;
const OTHER_WEIGHT = 100000;
const LENGTH_WEIGHT = 1000;
const PLAIN = 1;
const ACCENTED = 900;
const UPPER = 2;
const VARIANT = 3;
const KATAKANA = [0x30a1, 0x30f6];
const KANA_DISTANCE = 0x60;

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

/** Weights of the 128 characters of ASCII; 0 for those that do not count. */
export function asciiWeights() {
  const weights = new Int32Array(128);
  for (let code = 0; code < 128; code++) {
    const char = String.fromCharCode(code).toLowerCase();
    weights[code] = symbolWeights.get(char) ?? (LETTERS.includes(char) ? letterWeight(char) : 0);
  }
  return weights;
}

/** Collects the three levels of a text. */
class Key {
  primary = [];
  secondary = [];
  tertiary = [];

  add(weight, accent, variant) {
    this.primary.push(weight);
    this.secondary.push(PLAIN);
    if (accent) this.secondary.push(accent);
    this.tertiary.push(variant);
  }
}

/** Adds one character to a key. */
function addChar(key, char, letters, variant) {
  const mark = markWeights.get(char);
  if (mark !== undefined) {
    key.secondary.push(mark);
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
  const weight = OTHER_WEIGHT + (isKatakana ? code - KANA_DISTANCE : code);
  key.add(weight, undefined, isKatakana ? VARIANT : variant);
}

/** A run of digits counts as a number: longer ones are greater. */
function addNumber(key, digits) {
  const significant = digits.replace(/^0+(?=\d)/, "");
  key.add(DIGIT_WEIGHT, undefined, PLAIN);
  key.primary.push(LENGTH_WEIGHT + significant.length);
  for (const digit of significant) key.primary.push(symbolWeights.get(digit));
}

/** The key of a text in a language. */
export function keyOf(text, { letters, numeric, ignorePunctuation }) {
  const key = new Key();
  const counted = ignorePunctuation ? text.replace(/[\p{P}\p{Z}\s]/gu, "") : text;
  for (const run of counted.normalize("NFC").split(numeric ? /(\d+)/ : /(?!)/)) {
    if (numeric && /^\d/.test(run)) addNumber(key, run);
    else for (const char of run) addChar(key, char, letters, PLAIN);
  }
  return key;
}

/** Compares two lists of weights. */
export function compareLists(one, two) {
  const length = Math.min(one.length, two.length);
  for (let index = 0; index < length; index++) {
    if (one[index] !== two[index]) return one[index] < two[index] ? -1 : 1;
  }
  return Math.sign(one.length - two.length);
}
