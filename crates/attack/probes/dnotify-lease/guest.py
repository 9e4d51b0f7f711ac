"""Requests a lease of a file, a signal when a directory changes, and signals about its own socket."""

import fcntl
import socket

own = os.open("leased", os.O_RDWR | os.O_CREAT, 0o600)
ours, theirs = socket.socketpair()
attempt("lease", lambda: fcntl.fcntl(own, fcntl.F_SETLEASE, fcntl.F_WRLCK))
attempt("notify", lambda: fcntl.fcntl(os.open(".", os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_CREATE))
attempt("owner", lambda: fcntl.fcntl(ours, fcntl.F_SETOWN, os.getpid()))
