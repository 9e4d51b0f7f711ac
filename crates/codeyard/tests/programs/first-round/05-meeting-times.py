# Request: We have a call at 15:00 Berlin time; give me a table of local times in New York, San Francisco, Tokyo, Mumbai, Sydney and Sao Paulo, and say who is outside 8-20h.
import asyncio
import pandas as pd
from datetime import datetime
zones = {"New York": "America/New_York", "San Francisco": "America/Los_Angeles", "Tokyo": "Asia/Tokyo",
         "Mumbai": "Asia/Kolkata", "Sydney": "Australia/Sydney", "Sao Paulo": "America/Sao_Paulo"}
answers = await asyncio.gather(*[
    tools.time.convert_time(source_timezone="Europe/Berlin", time="15:00", target_timezone=z) for z in zones.values()
])
rows = []
for city, a in zip(zones, answers):
    t = datetime.fromisoformat(a["target"]["datetime"])
    rows.append({"city": city, "local": t.strftime("%a %H:%M"), "diff": a["time_difference"], "ok": 8 <= t.hour < 20})
print(pd.DataFrame(rows).to_string(index=False))
