# Request: Read files/logs/app.log (large): errors by service and message, the worst hour; keep the parsed data, I will ask more.
import re
import pandas as pd

allowed = (await tools.filesystem.list_allowed_directories()).content
root = next(l.strip() for l in allowed.splitlines() if l.startswith("/"))
text = (await tools.filesystem.read_text_file(path=f"{root}/files/logs/app.log")).content
lines = text.splitlines()
print(len(text), "characters,", len(lines), "lines; first:", lines[0])
pattern = re.compile(r"^(\S+) ([A-Z]+) (\w+) (.*?)((?: \w+=\S+)*)$")
parsed, odd = [], []
for l in lines:
    m = pattern.match(l)
    if m:
        parsed.append(m.groups()[:4] + (dict(kv.split("=", 1) for kv in m.group(5).split()),))
    else:
        odd.append(l)
log = pd.DataFrame(parsed, columns=["time", "level", "service", "message", "fields"])
log["time"] = pd.to_datetime(log["time"], utc=True)
log["hour"] = log["time"].dt.hour
errors = log[log["level"] == "ERROR"]
print("levels:", log["level"].value_counts().to_dict(), "| lines not understood:", len(odd), odd[:2])
print(errors.pivot_table(index="service", columns="message", values="time", aggfunc="count", fill_value=0, margins=True, margins_name="all").to_string())
per_hour = errors.groupby("hour").size()
print("worst hour:", f"{per_hour.idxmax():02d}:00-{per_hour.idxmax() + 1:02d}:00 UTC", "with", int(per_hour.max()), "errors; next", per_hour.nlargest(3).to_dict())
print("kept: log, errors, per_hour")
