#!/bin/sh
# Example 1: one task of two steps; --verbose shows what is discovered, selected, generated and executed.
set -eu
cd "$(dirname "$0")"
codeyard=${CODEYARD:-codeyard}
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

output=$("$codeyard" task "Calculate 5 + 3 and get weather for San Francisco" --tools . --data "$data" --verbose)
printf '%s\n' "$output"
printf '%s\n' "$output" | grep -q '5 + 3 = 8'
printf '%s\n' "$output" | grep -q '"temperature": 21'
