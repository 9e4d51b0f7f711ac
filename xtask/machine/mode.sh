#!/usr/bin/env bash
# Checks that `codeyard doctor --json` finds this mode, and effective control groups of version 2:
# mode.sh MODE COMMAND [ARGUMENT...]
set -euo pipefail
mode=$1
shift
report=$("$@")
for expected in "\"mode\": ?\"$mode\"" 'cgroup v2: memory, processes and CPU are hard limits'; do
  if ! grep -qE "$expected" <<<"$report"; then
    echo "the doctor does not say $expected:"
    echo "$report"
    exit 1
  fi
  grep -E "$expected" <<<"$report"
done
