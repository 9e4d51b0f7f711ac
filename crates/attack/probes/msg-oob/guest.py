"""Sends and receives one out-of-band byte over its own socket pair."""

import socket

ours, theirs = socket.socketpair()
ours.setblocking(False)
theirs.setblocking(False)
attempt("send", lambda: theirs.send(b"x", socket.MSG_OOB))
attempt("receive", lambda: ours.recv(1, socket.MSG_OOB))
