"""Watches one descriptor."""

import select


def watch():
    reader, writer = os.pipe()
    watcher = select.epoll()
    watcher.register(reader, select.EPOLLIN)
    for descriptor in (reader, writer):
        os.close(descriptor)
    watcher.close()


attempt("watch", watch)
