"""Opens stream, datagram and raw sockets of every family, and looks for a network."""

import socket

FAMILIES = 46
UNIX = 1
NAMED = {2: "inet", 10: "inet6", 16: "netlink", 17: "packet", 38: "alg", 40: "vsock", 44: "xdp"}
KINDS = {"stream": socket.SOCK_STREAM, "datagram": socket.SOCK_DGRAM, "raw": socket.SOCK_RAW}


def open_any(family):
    """Opens a socket of the family, of the first kind that the family supports."""
    last = None
    for kind in KINDS.values():
        try:
            return socket.socket(family, kind).close()
        except OSError as error:
            if error.errno not in (errno.ESOCKTNOSUPPORT, errno.EPROTONOSUPPORT, errno.EPROTOTYPE):
                raise
            last = error
    raise last


def all_families():
    """Raises the common error of all families but Unix; returns if their errors differ."""
    answers = set()
    for family in range(FAMILIES):
        if family != UNIX:
            try:
                open_any(family)
                answers.add(0)
            except OSError as error:
                answers.add(error.errno)
    if len(answers) == 1:
        raise OSError(answers.pop(), "refused")


for family, name in NAMED.items():
    attempt(f"socket_{name}", lambda: open_any(family))


attempt("socket_inet_high_bits", lambda: os.close(call(41, 1 << 32 | 2, 1, 0)))
attempt("socketpair_inet", lambda: socket.socketpair(socket.AF_INET))
attempt("socket_unix", lambda: socket.socket(socket.AF_UNIX).close())
PATH = f"/tmp/socket-{os.urandom(8).hex()}"
attempt("bind_path", lambda: (socket.socket(socket.AF_UNIX).bind(PATH), os.unlink(PATH)))
attempt("bind_abstract", lambda: socket.socket(socket.AF_UNIX).bind(f"\0sockets-{given['token']}"))
attempt("every_family", all_families)
