#!/bin/sh
# Example 2: one result feeds fifty calls in one run, and only the summary leaves the sandbox. A program of the caller
# interprets "that many cities".
set -eu
cd "$(dirname "$0")"
codeyard=${CODEYARD:-codeyard}
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

output=$("$codeyard" task "Calculate 10 * 5, then get weather for that many cities starting with San Francisco" \
  --tools . --data "$data" \
  --task-specific-calls '{"calculator": "count = calculate(expression=\"10 * 5\")", "weather": "@programs/cities.py"}')
printf '%s\n' "$output"
printf '%s\n' "$output" | grep -q '50 cities from San Francisco'
