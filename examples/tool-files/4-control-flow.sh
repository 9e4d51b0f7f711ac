#!/bin/sh
# Example 4: a result decides the next call: in warm weather, in cold weather, and without weather.
set -eu
cd "$(dirname "$0")"
codeyard=${CODEYARD:-codeyard}
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

task() {
  "$codeyard" task "Get weather for San Francisco; if temperature is above 20, calculate the days until it falls below" \
    --tools . --data "$data" \
    --required-tools '{"weather": ["get_forecast", "get_weather"]}' --task-specific-calls '{"weather": "@programs/branch.py"}'
}
override() {
  "$codeyard" task "Write $1 to weather.json" --tools . --data "$data"
}

task | tee "$data/warm"
grep -q 'days' "$data/warm"
override '{"San Francisco": {"temperature": 15}}'
task | tee "$data/cold"
grep -q 'not above 20' "$data/cold"
override '{"San Francisco": {"error": "the station is silent"}}'
task | tee "$data/none"
grep -q 'no weather' "$data/none"
