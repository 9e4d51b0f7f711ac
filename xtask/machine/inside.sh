#!/usr/bin/env bash
# First process once the host's files are the root:  inside.sh CHECKOUT PLACE DATA USER
# Sets up the machine like Debian, runs the steps in PLACE/steps and reports each status to the host.
set -u
checkout=$1 place=$2 data=$3 user=$4
stty -F /dev/hvc0 -opost
exec </dev/null >/dev/hvc0 2>&1
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME=/data/root NO_COLOR=1

report() { printf '%s\n' "$*" >/dev/vport0p1; }
modprobe() { /run/modprobe "$@"; }
power_off() {
  echo o >/proc/sysrq-trigger
  # The kernel panics if its first process ends before the power is off.
  sleep infinity
}
trap power_off EXIT
set -e

mkdir -p /dev/pts /dev/shm
mount -t devpts -o mode=620,ptmxmode=666 devpts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=755 run /run
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ln -sfn /proc/self/fd /dev/fd
ulimit -n 1048576

# Busybox's modprobe loads modules from the unpacked package.
mkdir -p /lib/modules
mount --bind "$place/debian/lib/modules" /lib/modules
ln -s "$place/debian/bin/busybox" /run/modprobe
echo /run/modprobe >/proc/sys/kernel/modprobe
modprobe -a ext4 quota_v2 loop

# Tests write only to a file system with project quotas.
mkdir -p /data
mount -t ext4 -o prjquota /dev/vda /data
mkdir -m 1777 /data/tmp
mount --bind /data/tmp /tmp
mkdir -p /data/root /data/home/codeyard
ln -s "$data/python" /data/home/codeyard/python
chown -R --no-dereference "$user:$user" /data/home
export CODEYARD_QUOTA_PLACE=/data/tmp
# An emulated processor can start one sandbox within codeyard's time limit, but not two at once.
grep -q 'QEMU TCG' /proc/cpuinfo && export RUST_TEST_THREADS=1 || export RUST_TEST_THREADS=2
set +e

report booted
for step in "$place"/steps/*; do
  mapfile -d '' -t words <"$step"
  printf '\n== %s\n' "${step##*/}"
  "${words[@]}"
  report "$? ${step##*/}"
done
