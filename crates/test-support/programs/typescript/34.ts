// task: From a web access log, count the requests per status class and list the slowest three paths by their mean time.
// expect: classes { "2xx": 4, "4xx": 1, "5xx": 1 } and slowest: /report 900, /login 310, /api 200
const path = "DATA/files/access34.log";
await tools.filesystem.write_file({
  path,
  content: [
    '10.0.0.1 - - [01/May/2024:10:00:00 +0000] "GET / HTTP/1.1" 200 12ms',
    '10.0.0.2 - - [01/May/2024:10:00:01 +0000] "POST /login HTTP/1.1" 200 310ms',
    '10.0.0.1 - - [01/May/2024:10:00:02 +0000] "GET /report?id=7 HTTP/1.1" 200 900ms',
    '10.0.0.3 - - [01/May/2024:10:00:03 +0000] "GET /missing HTTP/1.1" 404 5ms',
    '10.0.0.4 - - [01/May/2024:10:00:04 +0000] "GET /api HTTP/1.1" 500 250ms',
    '10.0.0.4 - - [01/May/2024:10:00:05 +0000] "GET /api HTTP/1.1" 200 150ms',
  ].join("\n"),
});

const { content } = await tools.filesystem.read_text_file({ path, tail: 100 });
const pattern = /^(?<ip>[\d.]+) .*?"(?<method>[A-Z]+) (?<url>\S+) HTTP\/[\d.]+" (?<status>\d{3}) (?<ms>\d+)ms$/;

const hits = content.split("\n").flatMap((line) => {
  const g = pattern.exec(line)?.groups;
  if (!g) return [];
  const { pathname } = new URL(g.url, "http://localhost");
  return [{ ip: g.ip, pathname, status: Number(g.status), ms: Number(g.ms) }];
});

const classes = Object.entries(Object.groupBy(hits, (h) => `${Math.floor(h.status / 100)}xx`))
  .map(([cls, list]) => [cls, list!.length] as const);
const slowest = [...Map.groupBy(hits, (h) => h.pathname)]
  .map(([p, list]) => ({ path: p, meanMs: list.reduce((s, h) => s + h.ms, 0) / list.length }))
  .sort((a, b) => b.meanMs - a.meanMs)
  .slice(0, 3);
return { classes: Object.fromEntries(classes), slowest };
