attempt memory cat /proc/1/mem
attempt environment cat /proc/1/environ
attempt descriptors ls /proc/1/fd
# The channel to the host is no descriptor of programs.
if [[ -S /proc/self/fd/3 ]]; then echo 'channel: open'; else echo 'channel: closed'; fi
kill -STOP 1 2>/dev/null
kill -KILL 1 2>/dev/null
kill -INT 1 2>/dev/null
echo 'kill_all: closed'
attempt alive true
