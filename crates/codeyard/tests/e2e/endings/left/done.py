"""Reports the end of its own run, and continues."""

import os

from codeyard import channel
from codeyard.frames import pack

os.write(channel.current().fd, pack({"t": "done", "id": 1, "result": "over"}))
while True:
    with open("alive", "a") as file:
        file.write("x")
