"""Requests the pidfd of the peer from its channel to the host, and from its own socket pair."""

import socket

PEER_HANDLE = 77
ours, theirs = socket.socketpair()
channel = socket.socket(fileno=os.dup(3)) if given["inside"] else theirs
attempt("of_channel", lambda: os.close(channel.getsockopt(socket.SOL_SOCKET, PEER_HANDLE)))
attempt("of_own_pair", lambda: os.close(ours.getsockopt(socket.SOL_SOCKET, PEER_HANDLE)))
