// Reads a language's formats of dates, times and zones from Node.

import {
  DATE_FIELDS,
  FIELD_WIDTHS,
  TIME_FIELDS,
  clampForms,
  patternFor,
  skeletonOf,
} from "../platform/intl_skeleton.js";

const STYLES = ["full", "long", "medium", "short"];
const LETTERS = { weekday: "E", era: "G", month: "MMM", dayPeriod: "a" };

function moment(year, month, day, hour = 4) {
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  date.setUTCHours(hour, 7, 9, 89);
  return date;
}

/** A moment whose fields all have different values. */
const MOMENT = moment(2003, 1, 5);
const NUMBERS = {
  year: { 2003: "{y}", "03": "{yy}" },
  month: { 2: "{M}", "02": "{MM}" },
  day: { 5: "{d}", "05": "{dd}" },
  hour: { 4: "{h}", "04": "{hh}" },
  minute: { 7: "{m}", "07": "{mm}" },
  second: { 9: "{s}", "09": "{ss}" },
  fractionalSecond: {},
};
/** Moments that show all names of a field. */
const SERIES = {
  month: Array.from({ length: 12 }, (_, month) => moment(2003, month, 5)),
  weekday: Array.from({ length: 7 }, (_, day) => moment(2003, 1, 2 + day)),
  era: [moment(-4, 1, 5), MOMENT],
  dayPeriod: Array.from({ length: 24 }, (_, hour) => moment(2003, 1, 5, hour)),
};

const formatter = (locale, options) => new Intl.DateTimeFormat(locale, { timeZone: "UTC", ...options });

/** Collects the patterns of a language and the names that they use. */
class Reader {
  names = {};
  #locale;

  constructor(locale) {
    this.#locale = locale;
  }

  /** The pattern that Node uses for options. */
  pattern(options) {
    const format = formatter(this.#locale, options);
    return format
      .formatToParts(MOMENT)
      .map((part) => this.#field(format, part, options))
      .join("");
  }

  #field(format, { type, value }, options) {
    if (type === "literal") return value;
    if (type === "fractionalSecond") return "{f}";
    if (type === "timeZoneName") return "{z}";
    if (NUMBERS[type]?.[value]) return NUMBERS[type][value];
    return this.#name(type, this.#namesOf(format, type), options);
  }

  #namesOf(format, type) {
    return SERIES[type].map((date) => {
      return format.formatToParts(date).find((part) => part.type === type)?.value ?? "";
    });
  }

  /** The field of a name; names that are new in the wanted width are a form of their own. */
  #name(type, list, options) {
    let letters = FIELD_WIDTHS[type][options[type]] ?? LETTERS[type];
    if (letters.length < 3 && type === "month") letters = "MMM";
    const kept = letters === "a" ? [list[0], list[12]] : list;
    const isGiven = options[type] !== undefined || letters === "a";
    const widths = isGiven ? [letters] : [letters, letters[0].repeat(4)];
    for (const width of widths) {
      const form = this.#formOf(width, kept);
      if (form >= 0) return `{${width}${form}}`;
    }
    const forms = (this.names[letters] ??= []);
    return `{${letters}${forms.push(kept) - 1}}`;
  }

  #formOf(letters, list) {
    return (this.names[letters] ?? []).findIndex((known) => known.join("|") === list.join("|"));
  }
}

/** All choices of widths for fields, or the absence of each. */
function combinations(fields) {
  let all = [{}];
  for (const field of fields) {
    const widths = Object.keys(FIELD_WIDTHS[field]);
    all = all.flatMap((options) => [options, ...widths.map((width) => ({ ...options, [field]: width }))]);
  }
  return all.filter((options) => Object.keys(options).length);
}

/** Whether this combination is frequent enough to store its exact pattern. */
function isCommonDate({ weekday, era, year, month, day }) {
  if ((weekday && !day && (month || year || era)) || (era && !year)) return false;
  if (day && year && !month) return false;
  if (era && era !== "short") return false;
  return weekday !== "narrow" && month !== "narrow";
}

const isPlainDate = (skeleton) => /^E?G?y?(M|MMM|MMMM)?d?$|^\w$|^(\w)\2{3,4}$/.test(skeleton);

/** Fills a table with the patterns that cannot be derived from narrower ones. */
function tableOf(reader, entries) {
  const table = {};
  entries.sort(([a], [b]) => a.length - b.length);
  for (const [skeleton, options] of entries) {
    const pattern = reader.pattern(options);
    const predicted = patternFor(table, skeleton);
    if (predicted === undefined || clampForms(predicted, reader.names) !== pattern) table[skeleton] = pattern;
  }
  return table;
}

function dateTable(reader) {
  const entries = combinations(DATE_FIELDS).map((options) => [skeletonOf(options, DATE_FIELDS), options]);
  return tableOf(
    reader,
    entries.filter(([skeleton, options]) => isCommonDate(options) || isPlainDate(skeleton)),
  );
}

/** Times with a gap, such as hours and seconds, are left out; periods of the day belong to hours of 12. */
function timeTable(reader) {
  const common = combinations(TIME_FIELDS).filter(({ dayPeriod, hour, minute, second }) => {
    if (hour && second && !minute) return false;
    return hour || !dayPeriod || !(minute || second);
  });
  const of12 = common.map((options) => [skeletonOf(options, TIME_FIELDS), { ...options, hour12: true }]);
  const of24 = common
    .filter(({ hour, dayPeriod }) => hour && !dayPeriod)
    .map((options) => [skeletonOf(options, TIME_FIELDS, true), { ...options, hour12: false }]);
  return tableOf(reader, [...of12, ...of24]);
}

/** Times beside something else have patterns of their own. */
function timeTableWith(reader, fields, isWanted, more) {
  const common = combinations(fields).filter((options) => {
    const { dayPeriod, hour, minute, second } = options;
    return hour && !dayPeriod && !(second && !minute) && isWanted(options);
  });
  const entries = [true, false].flatMap((hour12) =>
    common.map((options) => [skeletonOf(options, fields, !hour12), { ...options, ...more, hour12 }]),
  );
  return tableOf(reader, entries);
}

function weekdayTimeTable(reader) {
  const isWanted = ({ weekday }) => weekday === "short" || weekday === "long";
  return timeTableWith(reader, ["weekday", ...TIME_FIELDS], isWanted, {});
}

/** Times with a short name of the zone, a long one, and a distance; only what differs from the short one. */
function zoneTimeTables(reader) {
  const [short, long, offset] = ["short", "long", "shortOffset"].map((timeZoneName) =>
    timeTableWith(reader, TIME_FIELDS, () => true, { timeZoneName }),
  );
  const different = (table) => (JSON.stringify(table) === JSON.stringify(short) ? undefined : table);
  return { short, long: different(long), offset: different(offset) };
}

/** The texts around a date and a time: `{1}` is the date, `{0}` the time. */
function glue(reader, dateOptions, timeOptions) {
  const time = reader.pattern(timeOptions);
  const date = reader.pattern(dateOptions);
  const both = reader.pattern({ ...dateOptions, ...timeOptions });
  return both.replace(date, "{1}").replace(time, "{0}");
}

function glues(reader) {
  const time = { hour: "numeric", minute: "numeric", hour12: false };
  const date = { year: "numeric", day: "numeric" };
  return {
    numeric: glue(reader, { ...date, month: "numeric" }, time),
    short: glue(reader, { ...date, month: "short" }, time),
    long: glue(reader, { ...date, month: "long" }, time),
    full: glue(reader, { ...date, month: "long", weekday: "long" }, time),
  };
}

function styles(reader) {
  const time = (hour12) => STYLES.map((timeStyle) => reader.pattern({ timeStyle, hour12 }));
  return {
    date: STYLES.map((dateStyle) => reader.pattern({ dateStyle })),
    time12: time(true),
    time24: time(false),
    glue: STYLES.map((dateStyle) => glue(reader, { dateStyle }, { timeStyle: "short", hour12: false })),
  };
}

/** The hour cycles that `hour12` and its absence choose. */
function cycles(locale) {
  const cycle = (hour12) => formatter(locale, { hour: "numeric", hour12 }).resolvedOptions().hourCycle;
  return [cycle(undefined), cycle(true), cycle(false)];
}

/** Periods of the day by hour: their names, and for each hour the place of its name. */
function packPeriods(list, noon) {
  const usual = list.map((name, hour) => (hour === 12 ? noon : name));
  const names = [...new Set(usual)];
  const packed = { names, hours: usual.map((name) => names.indexOf(name)).join("") };
  return list[12] === noon ? packed : { ...packed, noon: list[12] };
}

/** Packs the periods; the name of noon is only for the full hour. */
function packNames(names) {
  const packed = { ...names };
  for (const letters of ["B", "BBBB", "BBBBB"]) {
    const [withNoon, without = withNoon] = names[letters] ?? [];
    if (withNoon) packed[letters] = packPeriods(withNoon, without[12]);
  }
  return packed;
}

/** How a distance from UTC is written, and its minus sign. */
function offsets(locale) {
  const east = zoneName(locale, "Asia/Kathmandu", MOMENT, "longOffset");
  const west = zoneName(locale, "Etc/GMT+1", MOMENT, "shortOffset");
  return { pattern: east.replace("+05:45", "{0}"), minus: west.match(/[^A-Z\d]/u)[0] };
}

function zoneName(locale, timeZone, date, timeZoneName) {
  const parts = formatter(locale, { timeZone, timeZoneName }).formatToParts(date);
  return parts.find(({ type }) => type === "timeZoneName").value;
}

/** Everything about dates of one language. */
export function dateData(locale) {
  const reader = new Reader(locale);
  const data = {
    dates: dateTable(reader),
    times: timeTable(reader),
    weekdayTimes: weekdayTimeTable(reader),
    zoneTimes: zoneTimeTables(reader),
    glue: glues(reader),
    styles: styles(reader),
    cycles: cycles(locale),
    offset: offsets(locale),
  };
  return { ...data, names: packNames(reader.names) };
}

const SUMMER = new Date(Date.UTC(2023, 6, 1));
const WINTER = new Date(Date.UTC(2023, 0, 1));

/** Names of zones: one entry for each set of zones that share their names in English. */
export function zoneGroups(representatives) {
  const groups = Object.fromEntries(representatives.map((zone) => [zone, []]));
  const nameOf = (timeZone) => zoneNames("en", timeZone)?.join("|");
  const wanted = new Map(representatives.map((zone) => [nameOf(zone), zone]));
  for (const zone of Intl.supportedValuesOf("timeZone")) {
    const representative = wanted.get(nameOf(zone));
    if (representative && zone !== representative) groups[representative].push(zone);
  }
  return groups;
}

/** Short and long names of a zone in winter and in summer, ordered standard time first. */
export function zoneNames(locale, timeZone) {
  const [standard, daylight] = isSouthern(timeZone) ? [SUMMER, WINTER] : [WINTER, SUMMER];
  return ["short", "long"].flatMap((width) =>
    [standard, daylight].map((date) => zoneName(locale, timeZone, date, width)),
  );
}

/** Zones under older or newer names, which no list of Node contains. */
export function zoneAliases(names) {
  const resolved = (timeZone) => formatter("en", { timeZone }).resolvedOptions().timeZone;
  return Object.fromEntries(names.map((name) => [name, resolved(name)]));
}

function isSouthern(timeZone) {
  const hour = (date) => new Date(date.toLocaleString("en-US", { timeZone })).getTime() - date.getTime();
  return hour(WINTER) > hour(SUMMER);
}
