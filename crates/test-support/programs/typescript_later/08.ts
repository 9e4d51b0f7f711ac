// Which of New York, Chicago and Los Angeles is the warmest right now?
const cities = ["New York", "Chicago", "Los Angeles"] as const;
const weather = await Promise.all(
  cities.map(async (location) => ({ location, ...(await tools.everything.get_structured_content({ location })) })),
);
const warmest = weather.reduce((a, b) => (a.temperature >= b.temperature ? a : b));
`${warmest.location}: ${warmest.temperature}°, ${warmest.conditions.toLowerCase()}, humidity ${warmest.humidity}%`;
