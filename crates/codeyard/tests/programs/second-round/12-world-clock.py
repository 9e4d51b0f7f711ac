# Request: What time is it now in ten cities, sorted from west to east by offset, with who is on summer time and who sleeps now?
import asyncio
from datetime import datetime

zones = ["Pacific/Honolulu", "America/Los_Angeles", "America/New_York", "America/St_Johns", "America/Santiago", "Europe/London", "Africa/Cairo", "Asia/Kolkata", "Asia/Tokyo", "Pacific/Auckland"]
answers = await asyncio.gather(*(tools.time.get_current_time(timezone=z) for z in zones))
rows = []
for z, a in zip(zones, answers):
    t = datetime.fromisoformat(a["datetime"])
    rows.append((t.utcoffset(), z.split("/")[1].replace("_", " "), t, a["is_dst"]))
for off, city, t, dst in sorted(rows):
    minutes = int(off.total_seconds() // 60)
    state = "asleep" if t.hour < 7 or t.hour >= 23 else "awake"
    print(f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}  {city:12} {t:%a %H:%M}  {state:6} {'summer time' if dst else ''}")
