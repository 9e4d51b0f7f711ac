"""Watches every descriptor from every other one, as many as it can get."""

import select

MOST = 1_000
kept = []


def watch(sets, pipes):
    """Every pipe's end in every set, up to this number of sets."""
    ends = [end for _ in range(pipes) for end in os.pipe()]
    kept.extend(ends)
    for _ in range(sets):
        watcher = select.epoll()
        kept.append(watcher)
        for end in ends:
            watcher.register(end, select.EPOLLIN | select.EPOLLOUT)


attempt("one", lambda: watch(1, 1))
attempt("watched", lambda: watch(MOST if given["inside"] else 1, 30))
