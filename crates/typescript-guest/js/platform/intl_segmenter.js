// `Intl.Segmenter`: texts in graphemes, words and sentences, without dictionaries.

import { asService, readMatcher, resolveLocale, textOption } from "./intl_locale.js";

const SERVICE = "Intl.Segmenter";

/** The parts of an emoji: marks, tones, tags; and a sequence of emoji that are joined to one. */
const EMOJI_REST = "[\\p{M}\\p{Emoji_Modifier}\\u200c\\u{e0020}-\\u{e007f}]*";
const EMOJI = `\\p{Extended_Pictographic}${EMOJI_REST}`;
/** One visible character: a letter with its marks, a syllable, an emoji, a flag. */
const GRAPHEME = new RegExp(
  [
    "\\r\\n",
    "\\p{RI}\\p{RI}",
    `${EMOJI}(?:\\u200d${EMOJI})*\\u200d?`,
    "[\\u1100-\\u115f]*(?:[\\uac00-\\ud7a3]|[\\u1160-\\u11a7]+)[\\u1160-\\u11ff]*[\\p{M}\\u200c\\u200d]*",
    "[^\\p{Cc}\\p{Zl}\\p{Zp}][\\p{M}\\p{Emoji_Modifier}\\u200c\\u200d]*",
    "[^]",
  ].join("|"),
  "gu",
);

const IDEOGRAPH = "\\p{sc=Han}\\p{sc=Hiragana}";
const LETTERS = `(?:(?![${IDEOGRAPH}\\p{sc=Katakana}])[\\p{L}\\p{N}_]\\p{M}*)+`;
/** Runs of letters and digits with marks between them, katakana, single ideographs, spaces, anything else. */
const WORD = new RegExp(
  [
    "\\r\\n",
    "\\p{sc=Katakana}[\\p{sc=Katakana}\\p{M}\\u30fc]*",
    `[${IDEOGRAPH}]\\p{M}*`,
    `${LETTERS}(?:['’.:](?=\\p{L})${LETTERS}|[.,](?=\\p{N})(?:[\\p{L}\\p{N}_]\\p{M}*)+)*`,
    "[ \\u2000-\\u2006\\u2008-\\u200a\\u205f\\u3000]+",
    `${EMOJI}(?:\\u200d?${EMOJI})*`,
    "[^]\\p{M}*",
  ].join("|"),
  "gu",
);

const CLOSING = "[\"'”’)\\]]*";
/** A stop inside of a number or a name, or before a small letter, ends nothing. */
const INNER_STOP = `\\.+(?=[\\p{L}\\p{N}]|${CLOSING}\\s+\\p{Ll})`;
const SENTENCE = new RegExp(
  `(?:[^.!?。！？\\n]|${INNER_STOP})*(?:\\n|[.!?。！？]+${CLOSING}[^\\S\\n]*\\n?|$)`,
  "gu",
);

const PATTERNS = { grapheme: GRAPHEME, word: WORD, sentence: SENTENCE };
const WORD_LIKE = /[\p{L}\p{N}]/u;

/** The segments of one text. */
class Segments {
  #text;
  #granularity;

  constructor(text, granularity) {
    this.#text = text;
    this.#granularity = granularity;
  }

  /** The segment that an index lies in. */
  containing(index = 0) {
    const position = Math.trunc(index) || 0;
    if (position < 0 || position >= this.#text.length) return undefined;
    for (const segment of this) {
      if (position < segment.index + segment.segment.length) return segment;
    }
    return undefined;
  }

  *[Symbol.iterator]() {
    const pattern = new RegExp(PATTERNS[this.#granularity]);
    for (const { 0: segment, index } of this.#text.matchAll(pattern)) {
      if (segment === "") continue;
      const data = { segment, index, input: this.#text };
      if (this.#granularity === "word") data.isWordLike = WORD_LIKE.test(segment);
      yield data;
    }
  }
}

class SegmenterObject {
  #locale;
  #granularity;

  constructor(locales = undefined, options = undefined) {
    const { locale } = resolveLocale(locales);
    if (options !== undefined && (typeof options !== "object" || options === null)) {
      throw new TypeError("invalid_argument");
    }
    const given = options ?? {};
    readMatcher(SERVICE, given);
    this.#locale = locale;
    const granularities = Object.keys(PATTERNS);
    this.#granularity = textOption(SERVICE, given, "granularity", granularities, "grapheme");
  }

  segment(input) {
    return new Segments(`${input}`, this.#granularity);
  }

  resolvedOptions() {
    return { locale: this.#locale, granularity: this.#granularity };
  }
}

export const Segmenter = asService(SegmenterObject, "Segmenter");
