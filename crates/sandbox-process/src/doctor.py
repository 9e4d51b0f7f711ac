"""What a session sees of itself, for `codeyard doctor`."""

import errno
import mmap
import os
import socket


def attempt(action):
    try:
        action()
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))
    return "allowed"


def own_file():
    """A program on the session's own file system."""
    path = "/tmp/executed"
    with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o700), "w") as file:
        file.write("#!/bin/sh\n")
    return path


def execute_own():
    path = own_file()
    os.waitpid(os.posix_spawn(path, [path], {}), 0)


def map_own():
    with open(own_file(), "rb") as file:
        mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)


status = {}
for line in open("/proc/self/status"):
    name, _, value = line.partition(":")
    status[name] = value.strip()

result = {
    "pid": os.getpid(),
    "user": os.getuid(),
    "capabilities": status["CapEff"],
    "no_new_privileges": status["NoNewPrivs"] == "1",
    "seccomp_filters": int(status.get("Seccomp_filters", "0")),
    "environment": sorted(os.environ),
    "shadow": attempt(lambda: open("/etc/shadow").close()),
    "internet_socket": attempt(lambda: socket.socket(socket.AF_INET).close()),
    "write_usr": attempt(lambda: open("/usr/codeyard", "w").close()),
    "write_workspace": attempt(lambda: open("/workspace/doctor", "w").close()),
    "execute_own": attempt(execute_own),
    "map_own": attempt(map_own),
}
