"""Keeps as many descriptors in flight as it can."""

import array
import socket

kept = []


def send(pairs):
    """Sends 100 descriptors on each of these pairs and receives none."""
    for _ in range(pairs):
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        kept.append((ours, theirs))
        ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1] * 100))])


attempt("one", lambda: send(1))
attempt("sent", lambda: send(30 if given["inside"] else 1))
