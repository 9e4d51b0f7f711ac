"""Fills sockets in as many processes as possible, and keeps them: kernel memory that belongs to no process."""

import os
import signal
import socket

if os.uname().nodename != "sandbox":
    raise SystemExit("this fills whatever it runs on, so it runs in sessions only")


def fill():
    """Opens pairs and fills both directions until an error."""
    kept = []
    try:
        while True:
            pair = socket.socketpair()
            kept.append(pair)
            for end in pair:
                end.setblocking(False)
                try:
                    while True:
                        end.send(bytes(1 << 16))
                except BlockingIOError:
                    pass
    except OSError:
        return kept


readers = []
try:
    while True:
        reader, writer = os.pipe()
        if os.fork() == 0:
            kept = fill()
            os.write(writer, b"x")
            signal.pause()
        os.close(writer)
        readers.append(reader)
except OSError:
    os.close(writer)
full = sum(os.read(reader, 1) == b"x" for reader in readers)
print(f"hoard: {'allowed' if full == len(readers) else 'SIGKILL'}", flush=True)
