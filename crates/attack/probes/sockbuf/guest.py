"""Fills the buffers of sockets with up to 400 MiB that nobody reads."""

import socket

PIECE = bytes(1 << 16)
kept = []


def fill(most):
    """Queues at least `most` bytes and reads none."""
    queued = 0
    while queued < most:
        ours, theirs = socket.socketpair()
        kept.append((ours, theirs))
        for end in (ours, theirs):
            end.setblocking(False)
            try:
                while True:
                    queued += end.send(PIECE)
            except BlockingIOError:
                pass


attempt("one", lambda: fill(1))
if given["inside"]:
    attempt("kept_400_mib", lambda: fill(400 << 20))
