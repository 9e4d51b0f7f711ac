"""Uses sockets, FIFOs, locks and leases in a directory of the host, and keeps its locks."""

import array
import fcntl
import socket

FOLDER = "/data" if given["inside"] else given["host"]["folder"]
held = []


def connect(name, kind=socket.SOCK_STREAM):
    socket.socket(socket.AF_UNIX, kind).connect(f"{FOLDER}/{name}")


def pass_descriptor():
    carried = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))]
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendmsg([b"x"], carried, 0, f"{FOLDER}/mailbox")


def write_fifo():
    os.write(os.open(f"{FOLDER}/fifo", os.O_WRONLY | os.O_NONBLOCK), b"x")


def sees_lock():
    try:
        fcntl.flock(open(f"{FOLDER}/locked"), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def hold(operation, *arguments):
    held.append(os.open(f"{FOLDER}/free", os.O_RDONLY))
    operation(held[-1], *arguments)


attempt("connect", lambda: connect("socket"))
attempt("connect_private", lambda: connect("private"))
attempt("connect_mailbox", lambda: connect("mailbox", socket.SOCK_DGRAM))
attempt("pass_descriptor", pass_descriptor)
attempt("write_fifo", write_fifo)
look("sees_lock", sees_lock())
attempt("lock", lambda: hold(fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB))
attempt("lock_record", lambda: hold(fcntl.lockf, fcntl.LOCK_SH | fcntl.LOCK_NB))
attempt("lease", lambda: hold(fcntl.fcntl, fcntl.F_SETLEASE, fcntl.F_RDLCK))
