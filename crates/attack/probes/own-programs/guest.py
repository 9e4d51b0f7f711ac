"""Writes programs, scripts and libraries into each of its own directories, and executes or loads them."""

import itertools
import mmap
import shutil

PLACES = ("/tmp", "/home", "/dev/shm") if given["inside"] else (".",)
SCRIPT = b"#!/bin/sh\n"
numbers = itertools.count()
LIBRARY = next(line.split()[-1] for line in open("/proc/self/maps") if "r-xp" in line and "/libm" in line)


def made(place, content):
    """Makes a new executable file; the path is never reused, because a loaded library must keep its file."""
    path = f"{place}/own-{next(numbers)}"
    with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o700), "wb") as file:
        file.write(content)
    return path


def everywhere(action):
    """Repeats the action in every directory; a single success counts, otherwise the last error is raised."""
    refused = None
    for place in filter(os.path.isdir, PLACES):
        try:
            return action(place)
        except OSError as error:
            refused = error
    raise refused


def script(place):
    path = made(place, SCRIPT)
    in_child(lambda: os.execv(path, [path]))()


def program(place):
    path = shutil.copyfile("/bin/true", made(place, b""))
    in_child(lambda: os.execv(path, [path]))()


def descriptor(place):
    fd = os.open(shutil.copyfile("/bin/true", made(place, b"")), os.O_RDONLY)
    try:
        in_child(lambda: os.execve(fd, ["own-program"], {}))()
    finally:
        os.close(fd)


def mapped(place):
    with open(made(place, bytes(mmap.PAGESIZE)), "rb") as file:
        mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()


def made_code(place):
    """Maps a file readable, then makes the mapping executable."""
    with open(made(place, bytes(mmap.PAGESIZE)), "r+b") as file:
        area = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(area))
        call(10, address, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_EXEC)


def library(place):
    path = shutil.copyfile(LIBRARY, made(place, b""))
    try:
        ctypes.CDLL(path)
    except OSError as error:
        raise OSError(errno.EPERM, "not loaded") from error


def anonymous():
    mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_EXEC).close()


attempt("script", lambda: everywhere(script))
attempt("program", lambda: everywhere(program))
attempt("descriptor", lambda: everywhere(descriptor))
attempt("mapped", lambda: everywhere(mapped))
attempt("made_code", lambda: everywhere(made_code))
attempt("library", lambda: everywhere(library))
attempt("in_workspace", in_child(lambda: os.execv(made(os.getcwd(), SCRIPT), ["own-program"])))
attempt("anonymous", anonymous)
