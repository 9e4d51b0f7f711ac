# Request: Get the weather of New York, Chicago and Los Angeles, save it in a table "weather" in the database, and show a chart of temperature and humidity.
import asyncio
import matplotlib.pyplot as plt
cities = ["New York", "Chicago", "Los Angeles"]
weather = await asyncio.gather(*[tools.everything.get_structured_content(location=c) for c in cities])
await tools.sqlite.create_table(query="CREATE TABLE IF NOT EXISTS weather (city TEXT, temperature REAL, humidity REAL, conditions TEXT)")
for c, w in zip(cities, weather):
    await tools.sqlite.write_query(query=f"INSERT INTO weather VALUES ('{c}', {w['temperature']}, {w['humidity']}, '{w['conditions']}')")
print(await tools.sqlite.read_query(query="SELECT * FROM weather"))
fig, (a, b) = plt.subplots(1, 2, figsize=(9, 4))
a.bar(cities, [w["temperature"] for w in weather], color="tomato"); a.set_title("Temperature")
b.bar(cities, [w["humidity"] for w in weather], color="teal"); b.set_title("Humidity (%)")
fig.tight_layout()
show(fig)
