"""Sends forged frames, which no guest sends; the last frame is incomplete."""

import socket

ours, theirs = socket.socketpair()
CHANNEL = 3 if given["inside"] else ours.fileno()


def frame(text):
    body = text.encode() if isinstance(text, str) else json.dumps(text).encode()
    return len(body).to_bytes(4, "little") + body


FRAMES = [
    frame({"t": "done", "id": 1 << 60, "result": "forged"}),
    frame({"t": "call", "id": 7, "name": "tool", "args": {}}) * 3,
    frame("[" * 10_000 + "]" * 10_000),
    frame({"t": "jail", "step": 3, "errno": 1}),
    frame({"t": "ready", "v": 1, "python": "forged"}),
    b"\xff\xff\xff\x3f" + b"x" * 10,
]


def send(data):
    """Writes all data, whether or not the descriptor blocks, until the host closes the channel."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(CHANNEL, rest) :]
        except BlockingIOError:
            pass
        except OSError:
            return


say("sent", "allowed")
for data in FRAMES:
    send(data)
