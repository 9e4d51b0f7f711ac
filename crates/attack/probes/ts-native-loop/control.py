"""Copies for more CPU time than the run has."""

import time

with open("/dev/zero", "rb") as source, open("/dev/null", "wb") as target:
    while time.process_time() < 0.5:
        target.write(source.read(1 << 20))
say("copied", "allowed")
