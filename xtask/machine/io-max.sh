#!/usr/bin/env bash
# Shows that a control group's `io.max` binds: writing 16 MiB to the data disk at 4 MiB/s takes at least three seconds,
# and without the limit at most a third of that.
set -euo pipefail
groups=/sys/fs/cgroup own=/sys/fs/cgroup/io-max file=$(mktemp -p /data)
rate=$((4 << 20))
cleanup() {
  echo $$ >"$groups/cgroup.procs"
  rmdir "$own"
  rm -f "$file"
}

echo +io >"$groups/cgroup.subtree_control"
mkdir "$own"
trap cleanup EXIT
echo $$ >"$own/cgroup.procs"
device=$(cat /sys/block/vda/dev)

milliseconds() {
  local begin
  begin=$(date +%s%3N)
  dd if=/dev/zero of="$file" bs=1M count=16 oflag=direct status=none
  echo $(($(date +%s%3N) - begin))
}

free=$(milliseconds)
echo "$device wbps=$rate" >"$own/io.max"
cat "$own/io.max"
bound=$(milliseconds)
echo "16 MiB: $free ms without io.max, $bound ms with $rate bytes a second"
[ "$bound" -ge 3000 ] && [ "$free" -le $((bound / 3)) ]
