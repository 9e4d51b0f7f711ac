# The channel to the host is no descriptor of programs.
channel=closed
for fd in /proc/self/fd/*; do
  if [[ -S $fd ]]; then channel=open; fi
done
echo "channel: $channel"
for signal in STOP KILL TERM HUP QUIT USR1 SEGV; do kill -"$signal" 1 2>/dev/null; done
attempt alive true
