"""Checks its own standard input for the flag."""

import fcntl


def has_no_append():
    if fcntl.fcntl(0, fcntl.F_GETFL) & os.O_APPEND:
        raise OSError(errno.EEXIST, "shared")


attempt("own_flags", has_no_append)
