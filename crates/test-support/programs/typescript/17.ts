// task: Write a small log file and count its lines per level, and give the messages of warning or worse.
// expect: counts { INFO: 3, WARN: 1, ERROR: 2 } and three messages: "disk at 91%", "db timeout", "db down"
enum Level { INFO = 1, WARN, ERROR }

const path = "DATA/files/app17.log";
await tools.filesystem.write_file({
  path,
  content: `2024-05-01T10:00:00Z INFO started
2024-05-01T10:00:05Z INFO listening on 8080
2024-05-01T10:02:11Z WARN disk at 91%
2024-05-01T10:03:00Z ERROR db timeout
2024-05-01T10:03:01Z INFO retrying
2024-05-01T10:03:09Z ERROR db down
`,
});

const { content } = await tools.filesystem.read_text_file({ path });
const re = /^(?<ts>\S+)\s+(?<level>INFO|WARN|ERROR)\s+(?<msg>.*)$/gm;
const entries = [...content.matchAll(re)].map(({ groups }) => ({
  ts: new Date(groups!.ts),
  level: Level[groups!.level as keyof typeof Level],
  msg: groups!.msg,
}));

const counts: Record<string, number> = {};
for (const e of entries) {
  const key = Level[e.level];
  counts[key] = (counts[key] ?? 0) + 1;
}
const serious = entries.filter((e) => e.level >= Level.WARN).map((e) => e.msg);
return { counts, serious };
