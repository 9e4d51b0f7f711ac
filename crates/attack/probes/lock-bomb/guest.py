"""Locks every other byte of a file, three thousand times, and keeps the locks."""

import fcntl

held = os.open("locked", os.O_RDWR | os.O_CREAT, 0o600)


def lock(count):
    for number in range(count):
        fcntl.lockf(held, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 2 * number)


attempt("one", lambda: lock(1))
attempt("locked", lambda: lock(3_000))
