# Request: Find the hours of a working day in which Berlin, New York and São Paulo are all within 8-18 h local time; and is there one with Tokyo?
import asyncio
from datetime import datetime

zones = {"Berlin": "Europe/Berlin", "New York": "America/New_York", "São Paulo": "America/Sao_Paulo", "Tokyo": "Asia/Tokyo"}
async def local(hour, zone):
    r = await tools.time.convert_time(source_timezone="UTC", time=f"{hour:02d}:00", target_timezone=zone)
    return datetime.fromisoformat(r["target"]["datetime"])
times = dict(zip([(h, c) for h in range(24) for c in zones], await asyncio.gather(*(local(h, z) for h in range(24) for z in zones.values()))))
fits = lambda h, c: 8 <= times[h, c].hour and times[h, c].hour + 1 <= 18
three = [h for h in range(24) if all(fits(h, c) for c in list(zones)[:3])]
four = [h for h in three if fits(h, "Tokyo")]
print("one-hour slots for Berlin, New York and São Paulo (today's offsets):")
for h in three:
    print(f"{h:02d}:00 UTC:", ", ".join(f"{c} {times[h, c]:%H:%M}" for c in zones))
print("with Tokyo too:", [f"{h:02d}:00 UTC" for h in four] or "none")
