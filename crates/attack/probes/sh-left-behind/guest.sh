cd "$TMPDIR"
write() { sleep 0.5; echo late > "left-$1"; }
write job &
setsid bash -c 'sleep 0.5; echo late > left-daemon' &
(trap '' INT TERM HUP QUIT; write deaf) &
coproc { write coprocess; }
(setsid bash -c '(sleep 0.5; echo late > left-orphan) &' &)
echo 'started: allowed'
