#!/bin/sh
# Example 7: a file is written, read and listed.
set -eu
cd "$(dirname "$0")"
codeyard=${CODEYARD:-codeyard}
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

output=$("$codeyard" task 'Write "Hello World" to hello.txt, then read it, and list the directory' --tools . --data "$data")
printf '%s\n' "$output"
printf '%s\n' "$output" | grep -q 'filesystem.read_file: Hello World'
printf '%s\n' "$output" | grep -q 'filesystem.list_directory:.*hello.txt'
