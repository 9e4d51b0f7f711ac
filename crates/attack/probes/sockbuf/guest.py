"""Fills as many sockets as it can get."""

import socket

PIECE = bytes(1 << 16)
kept = []


def fill(most):
    """Queues this many bytes and reads none."""
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
