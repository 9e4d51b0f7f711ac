"""Starts up to 100 processes and keeps them, which could use up the limit that sessions of one user share."""

import signal


def hold(count):
    for _ in range(count):
        if os.fork() == 0:
            signal.pause()


attempt_in_child("one", lambda: None)
if given["inside"]:
    attempt("held", lambda: hold(100))
