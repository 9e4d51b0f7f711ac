"""Holds up to a thousand unnamed files, ignores signals, leaves a process that forks, and stops itself."""

import os
import signal
import tempfile

held = []
try:
    while len(held) < 1000:
        held.append(tempfile.TemporaryFile(dir="."))
        held[-1].write(b"x")
except OSError:
    pass
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
if os.fork() == 0:
    while True:
        try:
            if os.fork():
                os._exit(0)
        except OSError:
            pass
os.kill(os.getpid(), signal.SIGSTOP)
print("holding", flush=True)
