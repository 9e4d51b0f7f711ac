"""Attaches 250 descriptors to a frame that it sends to the host."""

import array
import socket

# An unknown call: the host's answer proves that it has read the message.
BODY = json.dumps({"t": "call", "id": 1 << 40, "name": given["token"], "args": {}}).encode()
ours, theirs = socket.socketpair()
channel = socket.socket(fileno=os.dup(3)) if given["inside"] else ours
channel.setblocking(True)
frame = len(BODY).to_bytes(4, "little") + BODY
held = [os.open("/dev/null", os.O_RDONLY) for _ in range(50)] * 5
rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", held))]
attempt("sent", lambda: channel.sendmsg([frame], rights))
