"""Takes names and locks that another session may want, and says which sockets of others it sees."""

import fcntl
import os
import socket

NAME = "\0codeyard-neighbour"
holder = socket.socket(socket.AF_UNIX)
try:
    socket.socket(socket.AF_UNIX).connect(NAME)
    print("connect_to_other: allowed")
except ConnectionRefusedError:
    print("connect_to_other: ECONNREFUSED")
holder.bind(NAME)
holder.listen(1)
print("bind: allowed")
with open("/proc/self/net/unix") as sockets:
    print(f"sockets_seen: {sum('codeyard-' in line for line in sockets)}")
locked = os.open("/usr/bin/env", os.O_RDONLY)
try:
    fcntl.flock(locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
    print("lock_of_shared_file: allowed")
except BlockingIOError:
    print("lock_of_shared_file: EAGAIN")
