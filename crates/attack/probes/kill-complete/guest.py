"""Leaves daemons behind, some of them stopped; the host searches for their command lines."""

import signal

COUNT = 6 if given["inside"] else 0


def daemon(stopped):
    """An orphan in its own session with the token in its command line."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if stopped:
        # Its twin does not run before the session ends.
        if os.fork() == 0:
            os.kill(os.getpid(), signal.SIGSTOP)
    os.execv("/bin/sleep", [given["token"], "600"])


def leave():
    for number in range(COUNT):
        daemon(stopped=number % 2)


attempt("left", leave)
