"""Tries to cancel the SIGSTOP after its run: sends itself SIGCONT by every system call that sends a signal, also from a
timer that goes off after the run."""

import ctypes
import errno
import os
import signal

libc = ctypes.CDLL(None, use_errno=True)
own = os.getpid()
pidfd = os.pidfd_open(own)
CALLS = {
    "kill": (62, own, signal.SIGCONT),
    "tkill": (200, own, signal.SIGCONT),
    "tgkill": (234, own, own, signal.SIGCONT),
    "pidfd_send_signal": (424, pidfd, signal.SIGCONT, None, 0),
    "clone, whose child would report its end by it": (56, signal.SIGCONT, None, None, None, None),
}


def tick(_signal, _frame):
    for call in CALLS.values():
        libc.syscall(*call)
    with open("alive", "a") as file:
        file.write("x")


signal.signal(signal.SIGALRM, tick)
signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
while not os.path.exists("alive"):
    signal.pause()
for name, call in CALLS.items():
    ctypes.set_errno(0)
    if (libc.syscall(*call), ctypes.get_errno()) != (-1, errno.EPERM):
        print(name, "is not refused")
print("armed")
