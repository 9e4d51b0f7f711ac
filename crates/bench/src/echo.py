"""Echoes every frame: the floor of a round trip to a warm Python."""

import socket
import sys

channel = socket.socket(fileno=int(sys.argv[1]))
while True:
    data = channel.recv(65536)
    if not data:
        break
    channel.sendall(data)
