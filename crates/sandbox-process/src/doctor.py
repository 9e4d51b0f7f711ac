"""What a session sees of itself, for `codeyard doctor`."""

import errno
import os
import socket


def attempt(action):
    try:
        action()
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))
    return "allowed"


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
}
