"""Sets the append flag of its standard input, which another session would see if both shared the open file."""

import fcntl


def set_append():
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_APPEND)
    if not fcntl.fcntl(0, fcntl.F_GETFL) & os.O_APPEND:
        raise OSError(errno.EINVAL, "not set")


attempt("set", set_append)
