#!/usr/bin/env bash
# Runs a program as a user without rights:  as-ordinary-user.sh UID CHECKOUT PROGRAM [ARGUMENT...]
# If that user cannot enter a directory above the checkout (usually a home), the program gets its own mount namespace.
# There an empty directory that leads to the checkout replaces the closed one; all paths stay the same.
set -euo pipefail
user=$1 checkout=$2
shift 2
give_up=(setpriv "--reuid=$user" "--regid=$user" --clear-groups "--inh-caps=-all" "--ambient-caps=-all" --)

if "${give_up[@]}" test -x "$checkout"; then
  exec "${give_up[@]}" "$@"
fi

closed=$checkout
while [ "$closed" != / ] && ! "${give_up[@]}" test -x "$(dirname "$closed")"; do closed=$(dirname "$closed"); done
export CLOSED=$closed CHECKOUT=$checkout HERE=$PWD
# shellcheck disable=SC2016 # the inner shell expands these
exec unshare --mount --propagation private bash -euo pipefail -c '
  hold=$(mktemp -d)
  mount --rbind "$CHECKOUT" "$hold"
  mount -t tmpfs -o mode=755,size=1m checkout "$CLOSED"
  mkdir -p "$CHECKOUT"
  mount --rbind "$hold" "$CHECKOUT"
  umount --recursive --lazy "$hold"
  rmdir "$hold"
  cd "$HERE"
  unset CLOSED CHECKOUT HERE
  exec "$@"' bash "${give_up[@]}" "$@"
