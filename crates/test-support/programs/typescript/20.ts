// task: Get the current time in Paris, Mumbai, Denver and "Mars/Olympus", and report which ones failed.
// expect: ok has three entries (Europe/Paris, Asia/Kolkata, America/Denver), failed has one for Mars/Olympus with an error message
const zones = ["Europe/Paris", "Asia/Kolkata", "America/Denver", "Mars/Olympus"];

const settled = await Promise.allSettled(
  zones.map((timezone) => tools.time.get_current_time({ timezone }))
);

const ok: Record<string, string> = {};
const failed: { zone: string; error: string }[] = [];

settled.forEach((s, i) => {
  if (s.status === "fulfilled") ok[s.value.timezone] = s.value.datetime;
  else failed.push({ zone: zones[i], error: String(s.reason?.message ?? s.reason) });
});

return { ok, failed };
