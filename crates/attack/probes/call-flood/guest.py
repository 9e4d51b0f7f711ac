"""Writes frames of calls to the channel itself."""

import random
import socket

ours, theirs = socket.socketpair()
CHANNEL = 3 if given["inside"] else ours.fileno()


def take(_number):
    # Not one of the guest's own calls, nor of another that takes.
    body = json.dumps({"t": "call", "id": random.getrandbits(60), "name": "tool", "args": {}}).encode()
    os.write(CHANNEL, len(body).to_bytes(4, "little") + body)


exceed("sent_200_calls", take, 200)
