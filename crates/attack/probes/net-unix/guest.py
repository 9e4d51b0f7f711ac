"""Reads the list of Unix sockets in its network namespace, and looks for B's."""

import socket

own = socket.socket(socket.AF_UNIX)
own.bind(f"\0{given['token']}-a")
with open("/proc/self/net/unix") as lines:
    names = [line.rstrip("\n").rpartition(" ")[2] for line in lines]
look("sees_other", f"@{given['token']}-b" in names)
look("sees_own", f"@{given['token']}-a" in names)
