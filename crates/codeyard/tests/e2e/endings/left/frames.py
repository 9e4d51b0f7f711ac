"""Has a thread that constantly sends calls and ends of runs, during a run and between runs."""

import itertools
import os
import threading

from codeyard import channel
from codeyard.frames import pack


def ask():
    for number in itertools.count(10_000_000):
        os.write(fd, pack({"t": "call", "id": number, "name": "manual", "args": {}}))


fd = channel.current().fd
thread = threading.Thread(target=ask, daemon=True)
thread.start()
print("asking")
