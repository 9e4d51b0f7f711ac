"""Passes a descriptor."""

import array
import socket


def pass_one():
    ours, theirs = socket.socketpair()
    ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))])
    theirs.recvmsg(1, 64)


attempt("pass_descriptor", pass_one)
