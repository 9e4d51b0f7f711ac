"""Speaks on the channel to the host itself: the one thing of a session that the host listens to.

`way` says how. The descriptor of the channel is 3; a frame is a length of four bytes and JSON.
"""

import array
import json
import os
import select
import socket
import time

CHANNEL = 3


def frame(message):
    """The bytes of one frame."""
    body = json.dumps(message).encode()
    return len(body).to_bytes(4, "little") + body


def send(data):
    """Writes all bytes, whatever the descriptor's mode."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(CHANNEL, rest) :]
        except BlockingIOError:
            pass


def call(number, name="tools", **args):
    return frame({"t": "call", "id": number, "name": name, "args": args})


def done(number, **more):
    return frame({"t": "done", "id": number, **more})


def forged_done():
    """Ends the run with a forged result, and continues."""
    send(done(given["run"], result="forged"))
    time.sleep(60)


def nested(depth):
    body = b'{"t":"call","id":9,"name":"x","args":' + b"[" * depth + b"]" * depth + b"}"
    return len(body).to_bytes(4, "little") + body


def descriptors():
    """Sends descriptors with good calls, as many as the kernel allows."""
    channel = socket.socket(fileno=os.dup(CHANNEL))
    for number in range(40):
        files = array.array("i", [0] * 250)
        try:
            channel.sendmsg([call(5000 + number, "no_such_call")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
        except OSError:
            time.sleep(0.01)  # Too many are under way already.


def flood():
    """Makes endless calls, far above the limit, and never reads an answer."""
    piece = b"".join(call(10_000 + number, "no_such_call") for number in range(100))
    send(piece)
    while True:
        try:
            send(piece)
        except KeyboardInterrupt:
            pass


def big_answers(count):
    """Requests large answers and never reads one."""
    for number in range(count):
        send(call(20_000 + number, "tool", server="stub", tool="big", args={"bytes": 1_000_000}))
    time.sleep(60)


def close(*numbers):
    for number in numbers:
        os.close(number)


def raw(head, values, tail):
    """A frame whose values are repeated text, which costs the guest little memory."""
    body = head + values + tail
    return len(body).to_bytes(4, "little") + body


def values(shape, size):
    """A list of `size` bytes."""
    items = {
        "wide": b"[0],",
        "objects": b'{"a":0},',
        "long_keys": b'{"' + b"k" * 60_000 + b'":0},',
        "escapes": b'"\\u0001\\n\\"",',
        "numbers": b"0,",
    }[shape]
    return b"[" + items * (size // len(items)) + b"0]"


def await_replies(count):
    """Reads this many replies, so that the host has handled each call before the run ends."""
    data = b""
    while count:
        select.select([CHANNEL], [], [])
        data += os.read(CHANNEL, 1 << 16)
        while len(data) >= 4 and len(data) >= 4 + int.from_bytes(data[:4], "little"):
            data = data[4 + int.from_bytes(data[:4], "little") :]
            count -= 1


def amplify():
    """Sends `size` bytes of values in the part of a frame that `part` names."""
    shape = values(given["shape"], given["size"])
    if given["part"] == "call":
        head = b'{"t":"call","id":9000,"name":"tool","args":{"server":"stub","tool":"echo","args":{"x":'
        send(raw(head, shape, b"}}}"))
        await_replies(1)
    elif given["part"] == "calls":
        for number in range(50):
            head = b'{"t":"call","id":%d,"name":"tool","args":{"server":"stub","tool":"slow","args":{"x":' % (9000 + number)
            send(raw(head, shape, b"}}}"))
        await_replies(50)
    else:
        send(raw(b'{"t":"done","id":%d,"%s":' % (given["run"], given["part"].encode()), shape, b"}"))


WAYS = {
    "amplify": amplify,
    "forged_done": forged_done,
    "other_done": lambda: send(done(given["run"] + 1)),
    "done_twice": lambda: send(done(given["run"]) * 2),
    "unknown_frame": lambda: send(frame({"t": "root", "id": 1})),
    "unknown_field": lambda: send(done(given["run"], shell="/bin/sh")),
    "ready_again": lambda: send(frame({"t": "ready", "v": 1, "python": "3.99"})),
    "jail_failure": lambda: send(frame({"t": "jail", "step": 1, "errno": 1})),
    "garbage": lambda: send(b"\xff" * 64),
    "no_json": lambda: send((9).to_bytes(4, "little") + b"not json!"),
    "empty_frame": lambda: send(bytes(4)),
    "wrong_encoding": lambda: send((2).to_bytes(4, "little") + b"\xc3\x28"),
    "gigabyte": lambda: send((1 << 30).to_bytes(4, "little") + b"{"),
    "deep": lambda: send(nested(10_000)),
    "negative_id": lambda: send(frame({"t": "call", "id": -1, "name": "tools", "args": {}})),
    "large_result": lambda: send(done(given["run"], result="x" * 5_000_000)),
    "large_beginning": lambda: send(done(given["run"], kept={"name": "r2", "sample": ["x" * 5_000_000]})),
    "forged_name": lambda: send(done(given["run"], kept={"name": "r2\")\nrun this", "sample": 1})),
    "forged_words": lambda: send(done(given["run"], kept={"name": "r2", "size": "1\nr3: str", "sample": 1})),
    "same_id_twice": lambda: send(call(7, "tool", server="stub", tool="slow", args={"seconds": 5}) * 2),
    "half_a_frame": lambda: send((1 << 20).to_bytes(4, "little") + b"{"),
    "unknown_call": lambda: send(call(8, "no_such_call")),
    "long_name": lambda: send(call(8, "n" * 1_000_000)),
    "descriptors": descriptors,
    "flood": flood,
    "big_answers": lambda: big_answers(90),
    "close_channel": lambda: (os.close(CHANNEL), time.sleep(60)),
    "close_half": lambda: (socket.socket(fileno=os.dup(CHANNEL)).shutdown(socket.SHUT_WR), time.sleep(60)),
    "close_output": lambda: close(1, 2),
    "close_all": lambda: os.closerange(0, 256),
}

print(f"{given['way']}: going", flush=True)
WAYS[given["way"]]()
