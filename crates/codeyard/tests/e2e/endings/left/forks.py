"""Leaves processes behind that fork endlessly, ignore signals and write to a file."""

import os
import signal

for number in range(12):
    if os.fork():
        continue
    os.setsid()
    for ignored in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGCONT):
        signal.signal(ignored, signal.SIG_IGN)
    while True:
        try:
            if os.fork():
                os._exit(0)
        except OSError:
            pass
        with open("alive", "a") as file:
            file.write("x")
print("forked")
