"""Forks, and whatever it forks does the same, until it is stopped."""

import errno
import os

if os.uname().nodename != "sandbox":
    raise SystemExit("this fills whatever it runs on, so it runs in sessions only")

told = False
while True:
    try:
        os.fork()
    except OSError as error:
        if not told and os.getpid() == 1:
            print(f"fork: {errno.errorcode[error.errno]}", flush=True)
            told = True
