cities = ["San Francisco", *(f"City {number}" for number in range(2, count + 1))]
temperatures = [get_weather(location=city)["temperature"] for city in cities]
mean = sum(temperatures) / len(temperatures)
print(f"{count} cities from {cities[0]}: {min(temperatures)} to {max(temperatures)} degrees, {mean:.1f} in the mean")
