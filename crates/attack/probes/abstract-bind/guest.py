"""Binds the name that B has bound: where names are one's own, both can."""

import socket

try:
    socket.socket(socket.AF_UNIX).bind(f"\0{given['token']}-b")
    look("meets_other", False)
except OSError as error:
    look("meets_other", error.errno == errno.EADDRINUSE)
