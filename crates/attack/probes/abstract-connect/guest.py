"""Connects to the abstract sockets of B and H."""

import socket


def connect(name):
    socket.socket(socket.AF_UNIX).connect(f"\0{name}")


attempt("to_session", lambda: connect(f"{given['token']}-b"))
attempt("to_host", lambda: connect(given["host"]["abstract"]))
