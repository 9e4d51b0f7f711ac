// What time is it right now in our five offices? Sort them by local hour and mark who is on daylight saving time.
const offices: Record<string, string> = {
  London: "Europe/London",
  "New York": "America/New_York",
  Tokyo: "Asia/Tokyo",
  Sydney: "Australia/Sydney",
  "São Paulo": "America/Sao_Paulo",
};

const clocks = await Promise.all(
  Object.entries(offices).map(async ([city, timezone]) => {
    const now = await tools.time.get_current_time({ timezone });
    return { city, day: now.day_of_week, local: now.datetime.slice(0, 16).replace("T", " "), dst: now.is_dst };
  }),
);

clocks.sort((a, b) => a.local.localeCompare(b.local));
for (const c of clocks) {
  console.log(`${c.city.padEnd(10)} ${c.day.padEnd(9)} ${c.local}${c.dst ? " (DST)" : ""}`);
}
return clocks;
