"""Makes up to 1,000 epoll sets, and watches the ends of 30 pipes in each."""

import select

MOST = 1_000
kept = []


def watch(sets, pipes):
    """Makes the pipes and the epoll sets, and adds both ends of each pipe to each set."""
    ends = [end for _ in range(pipes) for end in os.pipe()]
    kept.extend(ends)
    for _ in range(sets):
        watcher = select.epoll()
        kept.append(watcher)
        for end in ends:
            watcher.register(end, select.EPOLLIN | select.EPOLLOUT)


attempt("one", lambda: watch(1, 1))
attempt("watched", lambda: watch(MOST if given["inside"] else 1, 30))
