"""Leaves daemons behind; the host looks for their command lines."""

import signal

COUNT = 6 if given["inside"] else 0


def daemon(stopped):
    """A process whose parent is gone, in a session of its own, whose command line has the token."""
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
