import os
import signal
import socket


def attempt(act):
    try:
        act()
        return "allowed"
    except OSError as error:
        return os.strerror(error.errno).lower()


# What a capability would allow is tried: without /proc nothing says which there are.
attempts = {
    "/etc/passwd": attempt(lambda: open("/etc/passwd").close()),
    "/proc": attempt(lambda: os.listdir("/proc")),
    "writing /var/tmp": attempt(lambda: open("/var/tmp/codeyard-doctor", "x").close()),
    "internet socket": attempt(lambda: socket.socket(socket.AF_INET)),
    "a path's socket": attempt(lambda: socket.socket(socket.AF_UNIX).connect("/run/none")),
    "signal to the parent": attempt(lambda: os.kill(os.getppid(), 0)),
}
return {
    "user": os.getuid(),
    "capabilities": attempt(lambda: os.chroot("/")) == "allowed",
    "attempts": attempts,
}
