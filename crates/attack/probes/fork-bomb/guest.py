"""Forks four hundred times and keeps all; outside they end with it."""

import signal


def fork():
    children = []
    try:
        for _ in range(400):
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    finally:
        if not given["inside"]:
            for child in children:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)


attempt("forked_hundreds", fork)
