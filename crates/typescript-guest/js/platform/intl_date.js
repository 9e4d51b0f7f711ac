// `Intl.DateTimeFormat`, and `toLocaleString` of dates.

import { readDateOptions } from "./intl_date_options.js";
import { asService } from "./intl_locale.js";
import { FIELD_WIDTHS } from "./intl_skeleton.js";
import { zoneName, zoneOffset } from "./intl_zone.js";

const LARGEST_TIME = 8.64e15;
const MINUTE = 60000;
const NARROW_SPACE = "\u202f";
const RANGE = "\u2009–\u2009";
const PART_TYPES = {
  G: "era",
  y: "year",
  M: "month",
  d: "day",
  E: "weekday",
  a: "dayPeriod",
  B: "dayPeriod",
  h: "hour",
  m: "minute",
  s: "second",
  f: "fractionalSecond",
  z: "timeZoneName",
};

/** For each field the width that its letters stand for. */
const WIDTHS = new Map();
for (const [field, widths] of Object.entries(FIELD_WIDTHS)) {
  for (const [width, letters] of Object.entries(widths)) WIDTHS.set(letters, [field, width]);
}

/** Splits a pattern into texts and fields with their letters and form. */
function tokensOf(pattern) {
  return pattern
    .split(/(\{[A-Za-z]+\d?\})/)
    .filter(Boolean)
    .map((token) => {
      const [, letters, form] = /^\{([A-Za-z]+)(\d?)\}$/.exec(token) ?? [];
      return letters ? { letters, form: Number(form), type: PART_TYPES[letters[0]] } : { literal: token };
    });
}

/** The milliseconds of a date, a number, or now. */
function readTime(value) {
  const time = value === undefined ? Date.now() : Number(value);
  if (!(Math.abs(time) <= LARGEST_TIME)) throw new RangeError("Invalid time value");
  return Math.trunc(time);
}

function hourText(hour, cycle, letters) {
  const shown = { h23: hour, h24: hour || 24, h11: hour % 12, h12: hour % 12 || 12 }[cycle];
  return padded(shown, letters);
}

/** Two letters ask for two digits. */
const padded = (number, letters) => `${number}`.padStart(letters.length, "0");

/** The name of the part of the day; noon is only the full hour. */
function periodName({ names, hours, noon }, local) {
  const hour = local.getUTCHours();
  if (noon && hour === 12 && local.getUTCMinutes() === 0) return noon;
  return names[Number(hours[hour])];
}

class DateTimeFormatObject {
  #settings;
  #tokens;
  #format;

  constructor(locales = undefined, options = undefined, required = "any", defaults = "date") {
    this.#settings = readDateOptions(locales, options, required, defaults);
    this.#tokens = tokensOf(this.#settings.pattern);
  }

  /** A function that needs no `this`; unlike the parts, the text has ordinary spaces. */
  get format() {
    this.#format ??= (date) => joined(this.formatToParts(date)).replaceAll(NARROW_SPACE, " ");
    return this.#format;
  }

  formatToParts(date = undefined) {
    const time = readTime(date);
    const local = new Date(time + zoneOffset(this.#settings.zone, time) * MINUTE);
    const parts = this.#tokens.map((token) =>
      token.literal === undefined
        ? { type: token.type, value: this.#fieldText(token, local, time) }
        : { type: "literal", value: token.literal },
    );
    return parts;
  }

  #fieldText({ letters, form }, local, time) {
    const { data, cycle, zone, zoneStyle, fractionalSecondDigits } = this.#settings;
    const names = data.names[letters];
    const year = local.getUTCFullYear();
    switch (letters[0]) {
      case "G":
        return names[form][year > 0 ? 1 : 0];
      case "y":
        return yearText(year, letters);
      case "M":
        return names ? names[form][local.getUTCMonth()] : padded(local.getUTCMonth() + 1, letters);
      case "d":
        return padded(local.getUTCDate(), letters);
      case "E":
        return names[form][local.getUTCDay()];
      case "a":
        return names[form][local.getUTCHours() < 12 ? 0 : 1];
      case "B":
        return periodName(names, local);
      case "h":
        return hourText(local.getUTCHours(), cycle, letters);
      case "m":
        return padded(local.getUTCMinutes(), letters);
      case "s":
        return padded(local.getUTCSeconds(), letters);
      case "f":
        return `${local.getUTCMilliseconds()}`.padStart(3, "0").slice(0, fractionalSecondDigits);
      default:
        return zoneName(data, zone, time, zoneStyle);
    }
  }

  formatRange(start, end) {
    return joined(this.formatRangeToParts(start, end));
  }

  /** Writes both ends in full; equal ones are one date. */
  formatRangeToParts(start, end) {
    if (start === undefined || end === undefined) {
      throw new TypeError("startDate or endDate cannot be undefined");
    }
    const [from, to] = [this.formatToParts(start), this.formatToParts(end)];
    const shared = (parts, source) => parts.map((item) => ({ ...item, source }));
    if (joined(from) === joined(to)) return shared(from, "shared");
    const between = { type: "literal", value: RANGE, source: "shared" };
    return [...shared(from, "startRange"), between, ...shared(to, "endRange")];
  }

  resolvedOptions() {
    const { locale, zone, cycle, zoneStyle, dateStyle, timeStyle, fractionalSecondDigits } = this.#settings;
    const resolved = { locale, calendar: "gregory", numberingSystem: "latn", timeZone: zone };
    const letters = this.#tokens.map((token) => token.letters).filter(Boolean);
    if (letters.some((run) => run[0] === "h")) {
      Object.assign(resolved, { hourCycle: cycle, hour12: cycle === "h11" || cycle === "h12" });
    }
    if (dateStyle !== undefined) resolved.dateStyle = dateStyle;
    if (timeStyle !== undefined) resolved.timeStyle = timeStyle;
    if (dateStyle !== undefined || timeStyle !== undefined) return resolved;
    const widths = new Map(letters.map((run) => WIDTHS.get(run)).filter(Boolean));
    for (const field of Object.keys(FIELD_WIDTHS)) {
      if (widths.has(field)) resolved[field] = widths.get(field);
    }
    if (letters.includes("f")) resolved.fractionalSecondDigits = fractionalSecondDigits;
    if (letters.includes("z")) resolved.timeZoneName = zoneStyle;
    return resolved;
  }
}

const joined = (parts) => parts.map(({ value }) => value).join("");

/** Years before the first count backwards from it. */
function yearText(year, letters) {
  const shown = `${year > 0 ? year : 1 - year}`;
  return letters === "yy" ? shown.slice(-2).padStart(2, "0") : shown;
}

export const DateTimeFormat = asService(DateTimeFormatObject, "DateTimeFormat", { needsNew: false });

const MOST_KEPT = 32;

/** Makes a method of dates that writes the fields of a kind. */
function localeMethod(name, required, defaults) {
  const kept = new Map();
  const formatterFor = (locales, options) => {
    const isPlain = options === undefined && (locales === undefined || typeof locales === "string");
    const known = isPlain ? kept.get(locales) : undefined;
    if (known) return known;
    const formatter = new DateTimeFormatObject(locales, options, required, defaults);
    if (isPlain && kept.size < MOST_KEPT) kept.set(locales, formatter);
    return formatter;
  };
  return {
    [name](locales = undefined, options = undefined) {
      const time = timeOf(this, name);
      return Number.isNaN(time) ? "Invalid Date" : formatterFor(locales, options).format(time);
    },
  }[name];
}

const { getTime } = Date.prototype;

function timeOf(date, name) {
  try {
    return Reflect.apply(getTime, date, []);
  } catch {
    throw new TypeError(`Method Date.prototype.${name} called on incompatible receiver ${String(date)}`);
  }
}

for (const [name, required, defaults] of [
  ["toLocaleString", "any", "all"],
  ["toLocaleDateString", "date", "date"],
  ["toLocaleTimeString", "time", "time"],
]) {
  const value = localeMethod(name, required, defaults);
  Object.defineProperty(Date.prototype, name, { value, writable: true, configurable: true });
}
