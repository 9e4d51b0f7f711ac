// The options of `Intl.DateTimeFormat`, and the pattern that follows from them.

import { numberOption, readMatcher, resolveLocale, textOption } from "./intl_locale.js";
import { DATE_FIELDS, TIME_FIELDS, clampForms, patternFor, skeletonOf } from "./intl_skeleton.js";
import { readZone } from "./intl_zone.js";

const SERVICE = "Intl.DateTimeFormat";
const CYCLES = ["h11", "h12", "h23", "h24"];
const STYLES = ["full", "long", "medium", "short"];
const NAMES = ["narrow", "short", "long"];
const DIGITS = ["2-digit", "numeric"];
const ZONE_NAMES = ["short", "long", "shortOffset", "longOffset", "shortGeneric", "longGeneric"];
const FIELDS = {
  weekday: NAMES,
  era: NAMES,
  year: DIGITS,
  month: [...DIGITS, ...NAMES],
  day: DIGITS,
  dayPeriod: NAMES,
  hour: DIGITS,
  minute: DIGITS,
  second: DIGITS,
  fractionalSecondDigits: undefined,
  timeZoneName: ZONE_NAMES,
};
const GIVEN_DATE = ["weekday", "year", "month", "day"];
const GIVEN_TIME = ["dayPeriod", "hour", "minute", "second", "fractionalSecondDigits"];
const WEEKDAY_TIME = ["weekday", "hour", "minute", "second"];
const DATE_DEFAULTS = { year: "numeric", month: "numeric", day: "numeric" };
const TIME_DEFAULTS = { hour: "numeric", minute: "numeric", second: "numeric" };

const text = (options, name, allowed) => textOption(SERVICE, options, name, allowed, undefined);

/** Reads the wanted fields. */
function readFields(options) {
  const fields = {};
  for (const [name, allowed] of Object.entries(FIELDS)) {
    const isNumber = name === "fractionalSecondDigits";
    const value = isNumber ? numberOption(options, name, 1, 3, undefined) : text(options, name, allowed);
    if (value !== undefined) fields[name] = value;
  }
  return fields;
}

/**
 * Adds the fields that are shown when none is wanted. `required` says which kind must be there (`date`,
 * `time` or `any`), `defaults` which kind is added (`date`, `time` or `all`).
 */
function withDefaults(fields, required, defaults) {
  const given = [...(required === "time" ? [] : GIVEN_DATE), ...(required === "date" ? [] : GIVEN_TIME)];
  if (given.some((name) => fields[name] !== undefined)) return fields;
  const added = { ...fields };
  if (defaults !== "time") Object.assign(added, DATE_DEFAULTS);
  if (defaults !== "date") Object.assign(added, TIME_DEFAULTS);
  return added;
}

/** A style excludes fields, and one of a date is wrong for a time. */
function checkStyles({ dateStyle, timeStyle }, fields, required) {
  const [field] = Object.keys(fields);
  const style = dateStyle === undefined ? "timeStyle" : "dateStyle";
  if (field) throw new TypeError(`Can't set option ${field} when ${style} is used`);
  if (required === "date" && timeStyle !== undefined) throw new TypeError("Invalid option : timeStyle");
  if (required === "time" && dateStyle !== undefined) throw new TypeError("Invalid option : dateStyle");
}

/** The hour cycle: from `hour12`, else from `hourCycle`, else that of the locale. */
function cycleOf(data, hour12, hourCycle, keyword) {
  const [usual, of12, of24] = data.cycles;
  if (hour12 !== undefined) return hour12 ? of12 : of24;
  return hourCycle ?? (CYCLES.includes(keyword) ? keyword : usual);
}

const is24Hours = (cycle) => cycle === "h23" || cycle === "h24";

function datePattern(data, fields) {
  const skeleton = skeletonOf(fields, DATE_FIELDS);
  return skeleton && clampForms(patternFor(data.dates, skeleton) ?? "", data.names);
}

/** The patterns of times with a zone: a distance from UTC can have others than a name. */
function zoneTable({ zoneTimes }, timeZoneName) {
  const width = timeZoneName.startsWith("long") ? "long" : "short";
  return zoneTimes[timeZoneName.endsWith("Offset") ? "offset" : width] ?? zoneTimes.short;
}

/** Times with a gap, such as hours and seconds, get their minutes. */
function timePattern(data, fields, cycle) {
  const { hour, minute, second, fractionalSecondDigits, timeZoneName } = fields;
  const isOf24 = is24Hours(cycle);
  const wanted = { ...fields };
  if (hour && second && !minute) wanted.minute = "2-digit";
  if (isOf24 ? hour : !hour && (minute || second)) delete wanted.dayPeriod;
  const skeleton = skeletonOf(wanted, TIME_FIELDS, isOf24);
  const found = timeZoneName && hour ? patternFor(zoneTable(data, timeZoneName), skeleton) : undefined;
  const plain = found ?? (skeleton && (patternFor(data.times, skeleton) ?? ""));
  const zoned = timeZoneName && plain && !found ? `${plain} {z}` : plain;
  const pattern = clampForms(zoned, data.names);
  if (!fractionalSecondDigits) return pattern;
  if (!second) return pattern ? `${pattern} {f}` : "{f}";
  return pattern.replace(/\{s+\}/, (field) => `${field}${data.numbers.decimal}{f}`);
}

/** The text between a date and a time. */
function glueOf({ glue }, { weekday, month }) {
  if (month === "long") return weekday ? glue.full : glue.long;
  return month === "short" ? glue.short : glue.numeric;
}

const joined = (glue, first, second) => glue.replace("{1}", () => first).replace("{0}", () => second);

/** A weekday with a time has a pattern of its own; undefined for other fields. */
function weekdayPattern(data, fields, cycle) {
  const names = Object.keys(fields);
  if (!fields.weekday || !fields.hour || names.some((name) => !WEEKDAY_TIME.includes(name))) return undefined;
  const skeleton = skeletonOf(fields, WEEKDAY_TIME, is24Hours(cycle));
  const pattern = patternFor(data.weekdayTimes, skeleton);
  return pattern && clampForms(pattern, data.names);
}

/** The pattern of single fields. */
function fieldsPattern(data, fields, cycle) {
  const whole = weekdayPattern(data, fields, cycle);
  if (whole) return whole;
  const date = datePattern(data, fields);
  const time = timePattern(data, fields, cycle) || (fields.timeZoneName ? "{z}" : "");
  return date && time ? joined(glueOf(data, fields), date, time) : date || time;
}

/** The pattern of styles. */
function stylesPattern({ styles }, { dateStyle, timeStyle }, cycle) {
  const date = styles.date[STYLES.indexOf(dateStyle)];
  const times = is24Hours(cycle) ? styles.time24 : styles.time12;
  const time = times[STYLES.indexOf(timeStyle)];
  return date && time ? joined(styles.glue[STYLES.indexOf(dateStyle)], date, time) : date || time;
}

/** Only the Gregorian calendar and Latin digits are written; other names are checked for their form. */
function checkNames(options) {
  for (const name of ["calendar", "numberingSystem"]) {
    const value = text(options, name, undefined);
    if (value !== undefined && !/^[a-z0-9]{3,8}(?:-[a-z0-9]{3,8})*$/i.test(value)) {
      throw new RangeError(`Invalid ${name} : ${value}`);
    }
  }
}

/** Reads the settings of a formatter. */
export function readDateOptions(locales, options, required, defaults) {
  const supported = { ca: ["gregory"], hc: CYCLES, nu: ["latn"] };
  const { locale, data, keywords } = resolveLocale(locales, supported);
  if (options === null) throw new TypeError("Cannot convert undefined or null to object");
  const given = options === undefined ? {} : Object(options);
  const fields = readFields(given);
  readMatcher(SERVICE, given);
  checkNames(given);
  const hour12 = given.hour12 === undefined ? undefined : Boolean(given.hour12);
  const hourCycle = text(given, "hourCycle", CYCLES);
  const zone = readZone(given.timeZone);
  const styles = { dateStyle: text(given, "dateStyle", STYLES), timeStyle: text(given, "timeStyle", STYLES) };
  const cycle = cycleOf(data, hour12, hourCycle, keywords.get("hc"));
  const common = { locale, data, zone, cycle };
  if (styles.dateStyle !== undefined || styles.timeStyle !== undefined) {
    checkStyles(styles, fields, required);
    const zoneStyle = styles.timeStyle === "full" ? "long" : "short";
    return { ...common, ...styles, zoneStyle, pattern: stylesPattern(data, styles, cycle) };
  }
  const wanted = withDefaults(fields, required, defaults);
  const { timeZoneName: zoneStyle, fractionalSecondDigits } = wanted;
  return { ...common, zoneStyle, fractionalSecondDigits, pattern: fieldsPattern(data, wanted, cycle) };
}
