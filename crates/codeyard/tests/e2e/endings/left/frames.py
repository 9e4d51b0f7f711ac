"""Has a thread ask for tools and claim ends of runs without a pause, whether a run is under way or not."""

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
