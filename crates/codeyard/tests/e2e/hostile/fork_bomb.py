"""Forks recursively until stopped."""

import errno
import os

if os.uname().nodename != "sandbox" and not given.get("confined"):
    raise SystemExit("this fills whatever it runs on, so it runs in sessions only")

first, told = os.getpid(), False
while True:
    try:
        os.fork()
    except OSError as error:
        if not told and os.getpid() == first:
            print(f"fork: {errno.errorcode[error.errno]}", flush=True)
            told = True
