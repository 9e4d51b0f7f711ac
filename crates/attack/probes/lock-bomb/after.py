"""Locks a file of its own."""

import fcntl
import tempfile

with tempfile.TemporaryFile() as file:
    attempt("lock", lambda: fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB))
