"""Starts threads until an error, and leaves them."""

import os
import threading
import time

if os.uname().nodename != "sandbox":
    raise SystemExit("this fills whatever it runs on, so it runs in sessions only")

started = 0
try:
    while True:
        threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
        started += 1
except RuntimeError as error:
    print(f"threads: {error}")
print(f"few: {0 < started < 200}")
