# Get the weather of three cities in parallel and name the warmest.
dir=$(mktemp -d /scratch/w08.XXXXXX)
for city in "New York" "Chicago" "Los Angeles"; do
  mcp call everything.get_structured_content location="$city" > "$dir/$city.json" &
done
wait
for f in "$dir"/*.json; do
  jq -c --arg city "$(basename "$f" .json)" '. + {city: $city}' "$f"
done | jq -s -r 'sort_by(-.temperature) | (.[] | "\(.city): \(.temperature) \(.conditions)"), "warmest: \(.[0].city)"'
