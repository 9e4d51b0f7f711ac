# Request: local time of each person in the memory graph, office hours (9-17)?, and the time zone as an observation
zones = {"Berlin": "Europe/Berlin", "Sofia": "Europe/Sofia", "Singapore": "Asia/Singapore", "New York": "America/New_York"}
graph = await tools.memory.read_graph()
out, notes = [], []
for e in graph.entities:
    if e.entityType != "person":
        continue
    city = next((o.split(":", 1)[1].strip() for o in e.observations if o.startswith("city:")), None)
    zone = zones.get(city)
    if not zone:
        out.append({"person": e.name, "city": city, "local": "unknown", "office_hours": None})
        continue
    now = await tools.time.get_current_time(timezone=zone)
    hour = int(now.datetime[11:13])
    out.append({"person": e.name, "city": city, "local": now.datetime[:16], "day": now.day_of_week,
                "office_hours": 9 <= hour < 17 and now.day_of_week not in ("Saturday", "Sunday")})
    notes.append({"entityName": e.name, "contents": [f"time zone: {zone}"]})
added = await tools.memory.add_observations(observations=notes)
print([(r.entityName, r.addedObservations) for r in added.results])
out
