"""Binds the name that B has bound; both succeed if each has its own names."""

import socket

try:
    socket.socket(socket.AF_UNIX).bind(f"\0{given['token']}-b")
    look("meets_other", False)
except OSError as error:
    look("meets_other", error.errno == errno.EADDRINUSE)
