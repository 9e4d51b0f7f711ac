# Whatever a program tries: each line says what came of it.
import ctypes
import os
import socket


got_through = []


def attempt(what, action):
    try:
        action()
        got_through.append(what)
        outcome = "worked"
    except OSError as error:
        outcome = f"{type(error).__name__} ({error.strerror or error})"
    print(f"{what:34} {outcome}")


def syscall(number, *args):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, *args) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return "worked"


def foreign_processes():
    numbers = {name for name in os.listdir("/proc") if name.isdigit()}
    if numbers == {str(os.getpid())}:
        raise ProcessLookupError("none but this one is visible")


attempt("read the host's passwords", lambda: open("/etc/shadow").read())
attempt("read the host's home directories", lambda: os.listdir("/home") + os.listdir("/root"))
attempt("see the host's processes", foreign_processes)
attempt("read another environment", lambda: open(f"/proc/{os.getppid()}/environ").read())
attempt("connect to a local service", lambda: socket.create_connection(("127.0.0.1", 22), 1))
attempt("ask the cloud's metadata service", lambda: socket.create_connection(("169.254.169.254", 80), 1))
attempt("look up a host name", lambda: socket.getaddrinfo("example.com", 443))
attempt("change the system", lambda: open("/usr/bin/python3", "wb"))
attempt("mount a file system", lambda: syscall(165, b"none", b"/tmp", b"tmpfs", 0, 0))
attempt("make a new user namespace", lambda: syscall(272, 0x10000000))
attempt("load a kernel program", lambda: syscall(321, 0, 0, 0))
attempt("trace another process", lambda: syscall(101, 16, 1, 0, 0))
return {"got_through": got_through}
