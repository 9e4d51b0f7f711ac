"""Starts a process and a thread."""

import threading


def fork():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def thread():
    started = threading.Thread(target=lambda: None)
    started.start()
    started.join()


attempt("fork", fork)
attempt("thread", thread)
