"""Asks for larger buffers, then fills as many sockets as it gets."""

import socket

PIECE = bytes(1 << 16)
kept = []


def larger_buffer():
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)


def fill(most):
    """Queues so many bytes and reads none."""
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


attempt("larger_buffer", larger_buffer)
if given["inside"]:
    attempt("kept_400_mib", lambda: fill(400 << 20))
