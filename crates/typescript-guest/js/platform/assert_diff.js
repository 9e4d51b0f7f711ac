// Shows how two values differ, line by line, in the messages of `node:assert`.

import { inspect } from "./inspect.js";

/** Values that print shorter than this together are shown beside each other. */
const LONGEST_SHORT = 12;
const LINE = 80;
const LINES_SHOWN = 50;
const LINES_OF_SAME = 47;
const END_LINES = 3;

export const HEADINGS = {
  __proto__: null,
  deepStrictEqual: "Expected values to be strictly deep-equal:",
  strictEqual: "Expected values to be strictly equal:",
  strictEqualObject: 'Expected "actual" to be reference-equal to "expected":',
  deepEqual: "Expected values to be loosely deep-equal:",
  notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
  notStrictEqual: 'Expected "actual" to be strictly unequal to:',
  notStrictEqualObject: 'Expected "actual" not to be reference-equal to "expected":',
  notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
  notIdentical: "Values have same structure but are not reference-equal:",
  notDeepEqualUnequal: "Expected values not to be loosely deep-equal:",
};

/** Prints a value in full, one property a line. */
export function printFully(value) {
  return inspect(value, {
    compact: false,
    customInspect: false,
    depth: 1000,
    maxArrayLength: Infinity,
    showHidden: false,
    showProxy: false,
    sorted: true,
    getters: true,
  });
}

const isObject = (value) => typeof value === "object" && value !== null;

function areReferences(a, b) {
  return (isObject(a) && isObject(b)) || (typeof a === "function" && typeof b === "function");
}

/** Marks the first character in which two lines differ, unless it is one of the first. */
function markDifference(line, other) {
  if (line.length + other.length >= LINE) return "";
  let place = 0;
  while (line[place] === other[place]) place += 1;
  return place > 2 ? `\n  ${" ".repeat(place)}^` : "";
}

/** Cuts a list of lines that would be too long. */
export function shortenLines(lines) {
  return lines.length > LINES_SHOWN ? [...lines.slice(0, LINES_OF_SAME - 1), "..."] : lines;
}

/** Removes the lines that both have at their end; `end` is what the message shows of them. */
function takeCommonEnd(actual, expected) {
  let end = "";
  let count = 0;
  let above = "";
  while (actual.length > 0 && expected.length > 0 && actual.at(-1) === expected.at(-1)) {
    const line = actual.pop();
    expected.pop();
    if (count < END_LINES) end = `\n  ${line}${end}`;
    else above = line;
    count += 1;
  }
  const isShortened = count > END_LINES + 1;
  if (isShortened) end = `\n...${end}`;
  if (above !== "") end = `\n  ${above}${end}`;
  return { end, isShortened };
}

/** Writes lines of both values: common ones, and the differing ones of each in one block. */
class Diff {
  text = "";
  /** Differing lines of the expected value, which follow those of the actual one. */
  pending = "";
  printed = 0;
  isShortened = false;
  #common = 0;

  addCommon(line) {
    this.text += this.pending;
    this.pending = "";
    this.#common += 1;
    if (this.#common <= 2) this.#print(line);
  }

  /** `before` gives the lines before a differing one, of which the last ones are shown. */
  #endCommon(lines, index) {
    if (this.#common > 4) {
      if (this.#common === 5) this.#print(lines[index - 3]);
      else {
        this.text += "\n...";
        this.isShortened = true;
      }
    }
    if (this.#common > 3) this.#print(lines[index - 2]);
    if (this.#common > 2) this.#print(lines[index - 1]);
    this.#common = 0;
  }

  addActual(lines, index, line = lines[index]) {
    this.#endCommon(lines, index);
    this.text += `\n+ ${line}`;
    this.printed += 1;
  }

  addExpected(lines, index, line = lines[index]) {
    this.#endCommon(lines, index);
    this.pending += `\n- ${line}`;
    this.printed += 1;
  }

  #print(line) {
    this.text += `\n  ${line}`;
    this.printed += 1;
  }
}

/** Compares a pair of lines; one that only lacks the comma at its end is no difference. */
function addPair(diff, actual, expected, index) {
  const line = actual[index];
  const other = expected[index];
  if (line === other || line === `${other},`) diff.addCommon(line);
  else if (`${line},` === other) diff.addCommon(other);
  else {
    diff.addActual(actual, index);
    diff.addExpected(actual, index, other);
  }
}

function makeDiff(actual, expected, heading) {
  const { end, isShortened } = takeCommonEnd(actual, expected);
  const count = Math.max(actual.length, expected.length);
  if (count === 0) return undefined;
  const head = `${heading}\n+ actual - expected`;
  const diff = new Diff();
  diff.isShortened = isShortened;
  for (let index = 0; index < count; index++) {
    if (index >= expected.length) diff.addActual(actual, index);
    else if (index >= actual.length) diff.addExpected(expected, index);
    else addPair(diff, actual, expected, index);
    if (diff.printed > LINES_SHOWN && index < count - 2) {
      return `${head} ... Lines skipped\n${diff.text}\n...${diff.pending}\n...`;
    }
  }
  return `${head}${diff.isShortened ? " ... Lines skipped" : ""}\n${diff.text}${diff.pending}${end}`;
}

/**
 * The message for values that should be equal.
 * @param {string} operator "strictEqual" or "deepStrictEqual"
 * @param {string} [message] stands in place of the heading
 */
export function describeDifference(actual, expected, operator, message) {
  const printed = printFully(actual);
  const lines = printed.split("\n");
  const others = printFully(expected).split("\n");
  const isByReference = operator === "strictEqual" && areReferences(actual, expected);
  const heading = message || HEADINGS[isByReference ? "strictEqualObject" : operator];
  let mark = "";
  if (lines.length === 1 && others.length === 1 && lines[0] !== others[0]) {
    const isShort = lines[0].length + others[0].length <= LONGEST_SHORT;
    if (!isShort && !isByReference) mark = markDifference(lines[0], others[0]);
    const areZeros = actual === 0 && expected === 0;
    if (isShort && !isObject(actual) && !isObject(expected) && !areZeros) {
      return `${heading}\n\n${lines[0]} !== ${others[0]}\n`;
    }
  }
  const diff = makeDiff(lines, others, heading);
  if (diff !== undefined) return diff + mark;
  return `${HEADINGS.notIdentical}\n\n${shortenLines(printed.split("\n")).join("\n")}\n`;
}
