// Counts the columns that a text takes in a terminal, and removes control sequences.

import { checkString } from "./errors.js";
import { regExpExec, regExpReplace, stringCharCodeAt, stringSlice, uncurry } from "./primordials.js";

const normalize = uncurry(String.prototype.normalize);
const codePointAt = uncurry(String.prototype.codePointAt);

/** Commands to the system, control sequences such as colours, and short escapes. */
const CONTROLS = new RegExp(
  "(?:\\u001b\\]|\\u009d)[^\\u0007\\u001b\\u009c]*(?:\\u0007|\\u001b\\\\|\\u009c)" +
    "|(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]" +
    "|\\u001b[ -/]*[0-Z^-~\\\\]",
  "g",
);
const COLORS = /\u001b\[\d\d?m/g;
const PRINTABLE = /^[\x20-\x7e]*$/;
const WITHOUT_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const EMOJI = /^\p{Emoji_Presentation}$/u;
const SOFT_HYPHEN = 0xad;

/** First and last code point of each range of characters that are two columns wide. */
const WIDE = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2630, 0x2637],
  [0x268a, 0x268f],
  [0x2e80, 0x2e99],
  [0x2e9b, 0x303e],
  [0x3041, 0x3096],
  [0x3099, 0x3247],
  [0x3250, 0xa4c6],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe52],
  [0xfe54, 0xfe66],
  [0xfe68, 0xfe6b],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x16fe4],
  [0x16ff0, 0x18df2],
  [0x1aff0, 0x1b122],
  [0x1b132, 0x1b2fb],
  [0x1d300, 0x1d356],
  [0x1d360, 0x1d376],
  [0x1f200, 0x1f265],
  [0x1f300, 0x1f320],
  [0x20000, 0x3fffd],
];

function isWide(code) {
  if (code < WIDE[0][0]) return false;
  for (let index = 0; index < WIDE.length; index++) {
    if (code <= WIDE[index][1]) return code >= WIDE[index][0];
  }
  return false;
}

/** Columns of one character: 0, 1 or 2. */
function charWidth(code, char) {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return 0;
  if (isWide(code)) return 2;
  if (code !== SOFT_HYPHEN && regExpExec(WITHOUT_WIDTH, char) !== null) return 0;
  return regExpExec(EMOJI, char) === null ? 1 : 2;
}

function widthBeyondAscii(text) {
  let width = 0;
  for (let index = 0; index < text.length;) {
    const code = codePointAt(text, index);
    const size = code > 0xffff ? 2 : 1;
    width += charWidth(code, stringSlice(text, index, index + size));
    index += size;
  }
  return width;
}

/** Columns of a text; with `controls` those of a text without its control sequences. */
export function stringWidth(text, controls = true) {
  if (regExpExec(PRINTABLE, text) !== null) return text.length;
  const plain = controls ? regExpReplace(CONTROLS, text, "") : text;
  let width = 0;
  for (let index = 0; index < plain.length; index++) {
    const code = stringCharCodeAt(plain, index);
    if (code >= 0x7f) return width + widthBeyondAscii(normalize(stringSlice(plain, index), "NFC"));
    if (code >= 0x20) width += 1;
  }
  return width;
}

export function stripColors(text) {
  return regExpReplace(COLORS, text, "");
}

export function stripVTControlCharacters(text) {
  checkString(text, "str");
  return regExpReplace(CONTROLS, text, "");
}
