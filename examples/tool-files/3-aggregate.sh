#!/bin/sh
# Example 3: a thousand rows stay in the sandbox; only their statistics leave it.
set -eu
cd "$(dirname "$0")"
codeyard=${CODEYARD:-codeyard}
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

output=$("$codeyard" task "Query database for users, filter for active users, and calculate statistics" \
  --tools . --data "$data" \
  --required-tools '{"database": ["query"]}' --task-specific-calls '{"database": "@programs/statistics.py"}')
printf '%s\n' "$output"
printf '%s\n' "$output" | grep -q '1000 total, 412 active'
