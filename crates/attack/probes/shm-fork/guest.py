"""Starts twelve children that map and touch memory, shared and private, 1 GiB in total."""

import mmap
import signal

PIECE = 4 << 20
kept = []


def take(flags):
    area = mmap.mmap(-1, PIECE, flags=flags)
    kept.append(area)
    for offset in range(0, PIECE, mmap.PAGESIZE):
        area[offset] = 1


def take_in_child():
    """Starts a child; returns a pipe that has one byte once the child has taken all, and closes when the child ends."""
    ready, tell = os.pipe()
    if os.fork() == 0:
        for number in range(22):
            take(mmap.MAP_SHARED if number % 2 else mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        os.write(tell, b"x")
        signal.pause()
    os.close(tell)
    return ready


def take_in_children():
    for ready in [take_in_child() for _ in range(12)]:
        if os.read(ready, 1) != b"x":
            raise OSError(errno.ENOMEM, "a child was ended")


attempt("one", lambda: take(mmap.MAP_SHARED))
if given["inside"]:
    attempt("taken_1_gib", take_in_children)
