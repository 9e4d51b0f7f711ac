// task: Which of New York, Chicago and Los Angeles is the warmest, and what is the mean humidity?
// expect: warmest is one of the three cities with its temperature (a number), ranking is sorted from warm to cold, meanHumidity is a number with at most one decimal
type City = "New York" | "Chicago" | "Los Angeles";
const cities: City[] = ["New York", "Chicago", "Los Angeles"];

const weather = await Promise.all(
  cities.map(async (location) => ({
    location,
    ...(await tools.everything.get_structured_content({ location })),
  }))
);

const ranking = weather.toSorted((a, b) => b.temperature - a.temperature);
const [{ location, temperature, conditions }] = ranking;
const meanHumidity = +(weather.reduce((s, w) => s + w.humidity, 0) / weather.length).toFixed(1);

return {
  warmest: `${location} (${temperature}°, ${conditions})`,
  ranking: ranking.map((w) => `${w.location}: ${w.temperature}`),
  meanHumidity,
};
