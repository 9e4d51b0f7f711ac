// Skeletons of dates and times: which fields are wanted in which widths, and the pattern that fits.
//
// A pattern is text with fields in braces: `{d}. {MMMM0} {y}`. A digit after the letters selects one of the
// forms that a language has for a name, such as the genitive of a month.

/** The letters that stand for a field and its widths. */
export const FIELD_WIDTHS = {
  weekday: { short: "E", long: "EEEE", narrow: "EEEEE" },
  era: { short: "G", long: "GGGG", narrow: "GGGGG" },
  year: { numeric: "y", "2-digit": "yy" },
  month: { numeric: "M", "2-digit": "MM", short: "MMM", long: "MMMM", narrow: "MMMMM" },
  day: { numeric: "d", "2-digit": "dd" },
  dayPeriod: { short: "B", long: "BBBB", narrow: "BBBBB" },
  hour: { numeric: "h", "2-digit": "hh" },
  minute: { numeric: "m", "2-digit": "mm" },
  second: { numeric: "s", "2-digit": "ss" },
};
export const DATE_FIELDS = ["weekday", "era", "year", "month", "day"];
export const TIME_FIELDS = ["dayPeriod", "hour", "minute", "second"];

/** The skeleton of the wanted fields; hours of 24 are written as `H`. */
export function skeletonOf(options, fields, is24Hours = false) {
  const widths = fields.map((field) => FIELD_WIDTHS[field][options[field]] ?? "");
  const skeleton = widths.join("");
  return is24Hours ? skeleton.replace(/h+/, (hour) => hour.toUpperCase()) : skeleton;
}

/** Splits a skeleton into runs of one letter. */
const runs = (skeleton) => skeleton.match(/(\w)\1*/g) ?? [];

/** Narrower skeletons whose patterns can serve, best first; a month in digits is never one in letters. */
function alternatives(skeleton) {
  const narrow = (run) => (run.startsWith("MMM") ? (run === "MMMM" ? "MMMM" : "MMM") : run[0]);
  const narrowed = runs(skeleton).map(narrow);
  const short = narrowed.map((run) => (run === "MMMM" ? "MMM" : run));
  return [skeleton, narrowed.join(""), short.join("")];
}

/** Gives the fields of a pattern the widths of another skeleton. */
function widen(pattern, from, to) {
  const wanted = new Map(runs(to).map((run) => [run[0], run]));
  for (const run of runs(from)) if (wanted.get(run[0]) === run) wanted.delete(run[0]);
  return pattern.replace(/\{(\w)\1*(\d?)\}/g, (field, letter, form) => {
    return wanted.has(letter) ? `{${wanted.get(letter)}${form}}` : field;
  });
}

/** The pattern of a skeleton, from a table that has only what does not follow from others. */
export function patternFor(table, skeleton) {
  for (const known of alternatives(skeleton)) {
    if (table[known] !== undefined) return widen(table[known], known, skeleton);
  }
  return undefined;
}

/** Turns forms of names that a width does not have into its last one. */
export function clampForms(pattern, names) {
  return pattern.replace(/\{([A-Za-z]+)(\d)\}/g, (field, letters, form) => {
    const count = names[letters]?.length ?? 1;
    return `{${letters}${Math.min(Number(form), count - 1)}}`;
  });
}
