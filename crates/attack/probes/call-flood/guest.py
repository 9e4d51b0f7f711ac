"""Writes 200 call frames directly to the channel, bypassing the guest's own code."""

import random
import socket

ours, theirs = socket.socketpair()
CHANNEL = 3 if given["inside"] else ours.fileno()


def take(_number):
    # Differs from the ids of the guest's own calls and of other takers.
    body = json.dumps({"t": "call", "id": random.getrandbits(60), "name": "tool", "args": {}}).encode()
    os.write(CHANNEL, len(body).to_bytes(4, "little") + body)


exceed("sent_200_calls", take, 200)
