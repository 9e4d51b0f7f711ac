"""Uses the kernel's basic resources while another session hoards everything."""

import array
import fcntl
import select
import socket


def pass_descriptor():
    one, two = socket.socketpair()
    one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))])
    two.recvmsg(1, 64)


def whole_pipe():
    """A pipe of the usual size, which shrinks when its user holds too many."""
    reader, writer = os.pipe()
    if fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ) < 65536:
        raise OSError(errno.ENOBUFS, "small")


def watch():
    select.epoll().register(os.pipe()[0])


attempt("fork", start_process)
attempt("thread", start_thread)
attempt("memory", lambda: bytearray(16 << 20))
attempt("file", lambda: open("file", "wb").write(bytes(1 << 20)))
attempt("pass_descriptor", pass_descriptor)
attempt("whole_pipe", whole_pipe)
attempt("watch", watch)
attempt("lock", lambda: fcntl.lockf(open("lock", "wb"), fcntl.LOCK_EX))
attempt("name", lambda: socket.socket(socket.AF_UNIX).bind("\0codeyard-neighbour"))
