// Our weekly call is at 15:30 Berlin time. Write a markdown table with the local time of every participant and save it.
const participants = [
  { name: "Priya", tz: "Asia/Kolkata" },
  { name: "Jack", tz: "America/Los_Angeles" },
  { name: "Yuki", tz: "Asia/Tokyo" },
  { name: "Femi", tz: "Africa/Lagos" },
];

const lines = ["| Who | Local time | Difference |", "| --- | --- | --- |"];
for (const p of participants) {
  const r = await tools.time.convert_time({ source_timezone: "Europe/Berlin", time: "15:30", target_timezone: p.tz });
  const nextDay = r.target.day_of_week !== r.source.day_of_week ? ` (${r.target.day_of_week})` : "";
  lines.push(`| ${p.name} | ${r.target.datetime.slice(11, 16)}${nextDay} | ${r.time_difference} |`);
}

const path = "DATA/files/b2_12_weekly_call.md";
await tools.filesystem.write_file({ path, content: `# Weekly call\n\n${lines.join("\n")}\n` });
const saved = await tools.filesystem.read_text_file({ path });
return saved.content;
