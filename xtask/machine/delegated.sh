#!/usr/bin/env bash
# Runs a program as an unprivileged user, alone in a control group that this user may divide, as systemd does with
# `Delegate=cpu memory pids`:  delegated.sh UID CHECKOUT PROGRAM [ARGUMENT...]
set -euo pipefail
user=$1
groups=/sys/fs/cgroup slice=/sys/fs/cgroup/user.slice own=/sys/fs/cgroup/user.slice/delegated-$$.scope
mkdir -p "$slice" "$own"
for above in "$groups" "$slice"; do echo '+cpu +memory +pids' >"$above/cgroup.subtree_control"; done
chown "$user" "$own" "$own"/cgroup.{procs,subtree_control,threads}
echo $$ >"$own/cgroup.procs"
exec bash "$(dirname "$0")/../as-ordinary-user.sh" "$@"
