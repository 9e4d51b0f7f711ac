echo 'got_there: allowed'
trap '' INT TERM HUP
for fd in {200..260}; do eval "exec $fd>&- $fd<&-"; done 2>/dev/null
exec </dev/null >/dev/null 2>&1
exec true
