# Request: errors per service and day, p95 duration per service, most frequent error message over logs/*.jsonl; write logs/summary.json
import json
from collections import Counter
import pandas as pd

desk = "/srv/desk"
listing = (await tools.filesystem.search_files(path=f"{desk}/logs", pattern="*.jsonl")).content
files = sorted(line.strip() for line in listing.splitlines() if line.strip().endswith(".jsonl"))
records, bad = [], 0
for f in files:
    text = (await tools.filesystem.read_text_file(path=f)).content
    for line in text.splitlines():
        if not line.strip():
            continue
        try:
            records.append(json.loads(line))
        except ValueError:
            bad += 1
df = pd.DataFrame(records)
df["day"] = df["ts"].str[:10]
err = df[df["level"] == "ERROR"]
per = err.pivot_table(index="service", columns="day", values="ts", aggfunc="count", fill_value=0)
p95 = df.groupby("service")["duration_ms"].quantile(0.95).round(1)
top_msg, top_n = Counter(err["msg"]).most_common(1)[0]
summary = {
    "files": [f.rsplit("/", 1)[-1] for f in files],
    "good_lines": len(df), "bad_lines": bad,
    "errors_per_service": {k: int(v) for k, v in err["service"].value_counts().items()},
    "errors_per_service_and_day": {s: {d: int(v) for d, v in row.items()} for s, row in per.to_dict("index").items()},
    "p95_duration_ms": {k: float(v) for k, v in p95.items()},
    "top_error": {"message": top_msg, "count": top_n},
}
await tools.filesystem.write_file(path=f"{desk}/logs/summary.json", content=json.dumps(summary, indent=2, ensure_ascii=False))
table = per.copy()
table["errors"] = per.sum(axis=1)
table["p95_ms"] = p95
print(table.to_string())
print("Most frequent error:", top_msg, f"({top_n}x)")
print("good lines", len(df), "bad lines", bad, "files", len(files))
