"""B listens on an abstract name."""

import socket

listener = socket.socket(socket.AF_UNIX)
listener.bind(f"\0{given['token']}-b")
listener.listen(1)
