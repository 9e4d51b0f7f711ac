// Find the hours (UTC) in which Paris, Chicago and Singapore are all between 7:00 and 22:00 for a common call.
const zones = ["Europe/Paris", "America/Chicago", "Asia/Singapore"];
const offsets = await Promise.all(
  zones.map(async (tz) => {
    const r = await tools.time.convert_time({ source_timezone: "UTC", time: "12:00", target_timezone: tz });
    const hours = parseFloat(r.time_difference);
    return Number.isFinite(hours) ? hours : (Date.parse(r.target.datetime.slice(0, 19) + "Z") - Date.parse(r.source.datetime.slice(0, 19) + "Z")) / 3_600_000;
  }),
);
const good: string[] = [];
for (let utc = 0; utc < 24; utc++) {
  const locals = offsets.map((o) => (((utc + o) % 24) + 24) % 24);
  if (locals.every((h) => h >= 7 && h < 22)) good.push(`${String(utc).padStart(2, "0")}:00`);
}
good.length ? good : "no common hour";
