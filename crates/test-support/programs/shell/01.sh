# Compare the weather in New York, Chicago and Los Angeles, warmest first, with the average temperature.
cities=("New York" "Chicago" "Los Angeles")
for c in "${cities[@]}"; do
  mcp call everything.get_structured_content location="$c" | jq -c --arg city "$c" '{city: $city} + .'
done | jq -s 'sort_by(-.temperature)' > /scratch/weather.json
jq -r '.[] | [.city, .temperature, .humidity, .conditions] | @tsv' /scratch/weather.json
jq -r '"average temperature: \(map(.temperature) | add / length * 10 | round / 10)"' /scratch/weather.json
