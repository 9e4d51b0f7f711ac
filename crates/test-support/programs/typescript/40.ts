// task: My team's time zones are in SQLite; work out everybody's local time for a 15:00 UTC call, save it as JSON, and name those for whom it is outside 8 to 20 o'clock.
// expect: outside is "Kenji and Raj" (Kenji 00:00, Raj 20:30); Lena is at 16:00 or 17:00 and Maria at 10:00 or 11:00, by summer time
await tools.sqlite.create_table({ query: "CREATE TABLE IF NOT EXISTS team40 (name TEXT PRIMARY KEY, tz TEXT NOT NULL)" });
await tools.sqlite.write_query({
  query: `INSERT OR REPLACE INTO team40 (name, tz) VALUES
    ('Lena', 'Europe/Berlin'), ('Raj', 'Asia/Kolkata'), ('Kenji', 'Asia/Tokyo'), ('Maria', 'America/New_York')`,
});

const team = (await tools.sqlite.read_query({
  query: "SELECT name, tz FROM team40 ORDER BY name",
})) as Array<{ name: string; tz: string }>;

const schedule = await Promise.all(
  team.map(async ({ name, tz }) => {
    const { target } = await tools.time.convert_time({
      source_timezone: "UTC",
      time: "15:00",
      target_timezone: tz,
    });
    const [, hh, mm] = target.datetime.match(/T(\d{2}):(\d{2})/)!;
    const minutes = Number(hh) * 60 + Number(mm);
    return { name, tz, local: `${hh}:${mm}`, ok: minutes >= 8 * 60 && minutes <= 20 * 60 };
  })
);

const path = "DATA/files/schedule40.json";
await tools.filesystem.write_file({ path, content: JSON.stringify(schedule, null, 2) });
const saved: typeof schedule = JSON.parse((await tools.filesystem.read_text_file({ path })).content);

const outside = new Intl.ListFormat("en", { type: "conjunction" }).format(
  saved.filter((p) => !p.ok).map((p) => p.name)
);
return { schedule: saved.map(({ name, local }) => `${name}: ${local}`), outside };
