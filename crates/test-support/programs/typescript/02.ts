// task: If a meeting is at 09:30 in New York, what time is it in Tokyo, London, Berlin and Sydney?
// expect: an object of four zones with HH:MM local times and weekday; Tokyo is 22:30 in New York's summer time, 23:30 in winter; London 14:30 nearly all year, Berlin 15:30
const zones = ["Asia/Tokyo", "Europe/London", "Europe/Berlin", "Australia/Sydney"] as const;

const conversions = await Promise.all(
  zones.map((target_timezone) =>
    tools.time.convert_time({
      source_timezone: "America/New_York",
      time: "09:30",
      target_timezone,
    })
  )
);

return Object.fromEntries(
  conversions.map(({ target, time_difference }) => [
    target.timezone,
    { time: target.datetime.slice(11, 16), day: target.day_of_week, diff: time_difference },
  ])
);
