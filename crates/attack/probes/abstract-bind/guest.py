"""Binds the abstract socket name that B has bound; succeeds if A and B have separate names."""

import socket

try:
    socket.socket(socket.AF_UNIX).bind(f"\0{given['token']}-b")
    look("meets_other", False)
except OSError as error:
    look("meets_other", error.errno == errno.EADDRINUSE)
