"""Fills a session's own file system and channels: bytes, names, pipes, sockets, watches, locks."""

import array
import fcntl
import resource
import select
import socket

if os.uname().nodename != "sandbox":
    raise SystemExit("this fills whatever it runs on, so it runs in sessions only")

PIECE = bytes(1 << 20)
MOST = 1_000_000


def one_file():
    with open("one", "wb", buffering=0) as file:
        for _ in range(MOST):
            file.write(PIECE)


def hole():
    os.truncate(os.open("hole", os.O_CREAT | os.O_RDWR), 1 << 40)


def many_files():
    """Across all places of one file system."""
    for number in range(MOST):
        for place in ("/tmp", "/dev/shm", "/workspace", "/results", "/scratch", "/home"):
            with open(f"{place}/many-{number}", "wb", buffering=0) as file:
                file.write(PIECE)


def many_names():
    for number in range(MOST):
        os.close(os.open(f"/tmp/name-{number}", os.O_CREAT | os.O_WRONLY, 0o600))


def clean():
    for place in ("/tmp", "/dev/shm", "/workspace", "/results", "/scratch", "/home"):
        for name in os.listdir(place):
            # A directory there leads to the host's paths of the workspace.
            if not os.path.isdir(f"{place}/{name}"):
                os.unlink(f"{place}/{name}")


def until_full(writer):
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, PIECE)
    except BlockingIOError:
        pass


def pipes(kept):
    while True:
        reader, writer = os.pipe()
        kept += [reader, writer]
        until_full(writer)


def sockets(kept):
    while True:
        one, two = socket.socketpair()
        kept += [one.detach(), two.detach()]
        until_full(kept[-1])
        until_full(kept[-2])


def in_flight(kept):
    """Descriptors in flight in sockets, and open nowhere."""
    while True:
        one, two = socket.socketpair()
        kept += [two.detach()]
        one.setblocking(False)
        try:
            while True:
                one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [kept[-1]] * 100))])
        except BlockingIOError:
            pass
        kept += [one.detach()]


def watches(kept):
    """Every poll watches every pipe."""
    watched = [descriptor for _ in range(resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 5) for descriptor in os.pipe()]
    kept += watched
    while True:
        poll = select.epoll()
        kept.append(os.dup(poll.fileno()))
        for descriptor in watched:
            poll.register(descriptor)


def locks():
    with open("locks", "wb") as file:
        for number in range(given["locks"]):
            fcntl.lockf(file, fcntl.LOCK_EX, 1, number * 2)


def with_descriptors(fill):
    """Releases everything."""

    def filled():
        kept = []
        try:
            fill(kept)
        finally:
            for descriptor in kept:
                os.close(descriptor)

    return filled


attempt("one_file", one_file)
attempt("hole", hole)
attempt("many_files", many_files)
clean()
attempt("many_names", many_names)
clean()
attempt("pipes", with_descriptors(pipes))
attempt("sockets", with_descriptors(sockets))
attempt("in_flight", with_descriptors(in_flight))
attempt("watches", with_descriptors(watches))
attempt("locks", locks)
