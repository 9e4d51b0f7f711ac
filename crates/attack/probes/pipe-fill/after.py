"""Opens a pipe of the usual size; it is smaller if its user holds too many."""

import fcntl


def whole_pipe():
    reader, writer = os.pipe()
    size = fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ)
    os.close(reader)
    os.close(writer)
    if size < 65536:
        raise OSError(errno.ENOBUFS, "small")


attempt("whole_pipe", whole_pipe)
