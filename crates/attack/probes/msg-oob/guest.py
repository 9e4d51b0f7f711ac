"""Sends and receives one byte out of band, over a pair of its own."""

import socket

ours, theirs = socket.socketpair()
ours.setblocking(False)
theirs.setblocking(False)
attempt("send", lambda: theirs.send(b"x", socket.MSG_OOB))
attempt("receive", lambda: ours.recv(1, socket.MSG_OOB))
