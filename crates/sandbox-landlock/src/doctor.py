import os
import signal
import socket


def attempt(act):
    try:
        act()
        return "allowed"
    except OSError as error:
        return os.strerror(error.errno).lower()


# Try what a capability would allow: without /proc the capabilities cannot be read.
attempts = {
    "/etc/passwd": attempt(lambda: open("/etc/passwd").close()),
    "/proc": attempt(lambda: os.listdir("/proc")),
    "writing /var/tmp": attempt(lambda: open("/var/tmp/codeyard-doctor", "x").close()),
    "internet socket": attempt(lambda: socket.socket(socket.AF_INET)),
    "a path's socket": attempt(lambda: socket.socket(socket.AF_UNIX).connect("/run/none")),
    "signal to the parent": attempt(lambda: os.kill(os.getppid(), 0)),
}


def execute_own():
    """Executes a file of the session's own."""
    path = os.environ["TMPDIR"] + "/executed"
    with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o700), "w") as file:
        file.write("#!/bin/sh\n")
    os.waitpid(os.posix_spawn(path, [path], {}), 0)


return {
    "user": os.getuid(),
    "capabilities": attempt(lambda: os.chroot("/")) == "allowed",
    "attempts": attempts,
    "execute_own": attempt(execute_own),
}
