"""Leaves processes of every kind and threads: they fork without end, hear no signal, stop themselves, and wake the guest
that the host has stopped. All ignore SIGHUP and SIGCONT, by which they are known."""

import os
import signal
import threading

guest = os.getpid()
for number in (signal.SIGHUP, signal.SIGCONT):
    signal.signal(number, signal.SIG_IGN)


def hear_nothing():
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass


def fork_on():
    while True:
        try:
            if os.fork():
                os._exit(0)
        except OSError:
            pass


def stop():
    os.kill(os.getpid(), signal.SIGSTOP)
    fork_on()


def wake():
    while True:
        try:
            os.kill(guest, signal.SIGCONT)
        except PermissionError:  # as it should be
            pass


def count():
    while True:
        with open("alive", "a") as file:
            file.write("x")
        try:
            if os.fork() == 0:
                os._exit(0)
            os.wait()
        except OSError:
            pass


for _ in range(2):
    threading.Thread(target=count, daemon=True).start()
while not os.path.exists("alive"):
    pass
for kind in (fork_on, stop, wake) * 5:
    try:
        started = os.fork()
    except OSError:  # those before have taken all places
        break
    if started == 0:
        os.setsid()
        hear_nothing()
        kind()
print("standing", flush=True)
