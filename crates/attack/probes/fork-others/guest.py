"""Starts processes until refused, and keeps them."""

import signal


def hold(count):
    for _ in range(count):
        if os.fork() == 0:
            signal.pause()


attempt_in_child("one", lambda: None)
if given["inside"]:
    attempt("held", lambda: hold(100))
