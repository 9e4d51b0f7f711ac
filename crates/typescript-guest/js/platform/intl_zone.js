// Time zones: their names, and how far they are from UTC at a moment.

import native from "codeyard:native";
import { ZONE_ALIASES, ZONE_GROUPS } from "./locale_data.js";

const FIXED = /^([+-])([01]\d|2[0-3])(?::?([0-5]\d))?$/;
const UTC = "UTC";
const MINUTES = 60;
const MINUTE = 60000;

/** For each zone the one whose names it shares. */
const named = new Map();
for (const [representative, zones] of Object.entries(ZONE_GROUPS)) {
  for (const zone of [representative, ...zones]) named.set(zone, representative);
}
for (const [alias, zone] of Object.entries(ZONE_ALIASES)) named.set(alias, named.get(zone) ?? zone);

/** The usual spelling of known zones and of UTC. */
const spelling = new Map([...named.keys()].map((zone) => [zone.toLowerCase(), zone]));

/** Names in lower case are made like those of places: `America/New_York`. */
function spelled(name) {
  const known = spelling.get(name.toLowerCase());
  if (known) return named.get(known) === UTC ? UTC : known;
  if (name !== name.toLowerCase()) return name;
  return name.replace(/(^|[/_-])([a-z])/g, (match) => match.toUpperCase());
}

/** Checks the name of a zone and gives it its usual spelling. */
export function readZone(value) {
  if (value === undefined) return UTC;
  const name = `${value}`;
  const fixed = FIXED.exec(name);
  if (fixed) return `${fixed[1]}${fixed[2]}:${fixed[3] ?? "00"}`;
  const zone = spelled(name);
  if (zone === UTC) return UTC;
  if (!/^[A-Za-z]/.test(name) || native.timeZoneOffset(zone, 0) === undefined) {
    throw new RangeError(`Invalid time zone specified: ${name}`);
  }
  return zone;
}

/** Minutes that a zone is ahead of UTC at a moment. */
export function zoneOffset(zone, epochMilliseconds) {
  if (zone === UTC) return 0;
  const fixed = FIXED.exec(zone);
  if (!fixed) return native.timeZoneOffset(zone, epochMilliseconds) ?? 0;
  const minutes = Number(fixed[2]) * MINUTES + Number(fixed[3]);
  return fixed[1] === "-" ? -minutes : minutes;
}

/** Whether clocks are put forward: they are further ahead than in one half of the year. */
function isDaylight(zone, epochMilliseconds, offset) {
  const year = new Date(epochMilliseconds + offset * MINUTE).getUTCFullYear();
  const halves = [0, 6].map((month) => zoneOffset(zone, Date.UTC(year, month, 1)));
  return offset > Math.min(...halves);
}

const twoDigits = (number) => `${number}`.padStart(2, "0");

/** Writes a distance from UTC: `GMT+1`, or `GMT+01:00` in full. */
function offsetText({ pattern, minus }, offset, isFull) {
  const minutes = Math.abs(Math.trunc(offset));
  const hours = Math.floor(minutes / MINUTES);
  const rest = minutes % MINUTES;
  const sign = offset < 0 ? minus : "+";
  const text = isFull
    ? `${twoDigits(hours)}:${twoDigits(rest)}`
    : `${hours}${rest ? `:${twoDigits(rest)}` : ""}`;
  return pattern.replace("{0}", sign + text);
}

/** The name of a zone at a moment, in one of the styles of `timeZoneName`. */
export function zoneName(data, zone, epochMilliseconds, style) {
  const offset = zoneOffset(zone, epochMilliseconds);
  const isLong = style.startsWith("long");
  const names = style.endsWith("Offset") ? undefined : data.zones[named.get(zone)];
  const index = (isLong ? 2 : 0) + Number(zone !== UTC && isDaylight(zone, epochMilliseconds, offset));
  return names?.[index] || offsetText(data.offset, offset, isLong);
}
