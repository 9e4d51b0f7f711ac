#!/bin/sh
# Example 5: a file saved in /workspace is visible to another process and another session.
set -eu
cd "$(dirname "$0")"
codeyard=${CODEYARD:-codeyard}
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

"$codeyard" task "Calculate 5 + 3 and save the result to result.txt" --tools . --data "$data"
output=$("$codeyard" task "Read result.txt" --tools . --data "$data")
printf '%s\n' "$output"
printf '%s\n' "$output" | grep -q 'filesystem.read_file: 8'
test "$(cat "$("$codeyard" workspace path --data "$data")/result.txt")" = 8
