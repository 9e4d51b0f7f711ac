"""Ignores or blocks every possible signal, and never stops: in a loop, in children, in stopped children."""

import os
import signal

if os.uname().nodename != "sandbox":
    raise SystemExit("this fills whatever it runs on, so it runs in sessions only")

for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_IGN)
    except OSError:
        pass  # KILL and STOP
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
for number in range(4):
    child = os.fork()
    if child == 0:
        os.setsid()
        if number % 2:
            os.kill(os.getpid(), signal.SIGSTOP)
        while True:
            pass
print("deaf: allowed", flush=True)
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
