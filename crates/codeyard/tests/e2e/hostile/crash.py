"""Reads an invalid address: first in a child, then in its own process, for which the kernel may dump core."""

import ctypes
import os
import signal

child = os.fork()
if child == 0:
    ctypes.string_at(0)
status = os.waitpid(child, 0)[1]
print(f"crash: {signal.Signals(os.WTERMSIG(status)).name}")
print(f"image: {'allowed' if os.WCOREDUMP(status) else 'none'}", flush=True)
if given["own"]:
    ctypes.string_at(0)
