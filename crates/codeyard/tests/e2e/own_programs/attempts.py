"""Executes a program that it made, also through a descriptor, and maps one as code, in each place of its own."""

import errno
import json
import mmap
import os
import shutil

try:
    real = runtime.path
except (AttributeError, NameError):  # on the surface `bridge` the places are where they are called
    real = str


def attempt(action, place):
    try:
        action(made(place))
    except OSError as error:
        return errno.errorcode[error.errno]
    return "allowed"


def made(place):
    path = f"{real(place)}/made"
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o700))
    return shutil.copyfile("/bin/true", path)


def is_own(place):
    try:
        os.unlink(made(place))
    except OSError:
        return False
    return True


def in_child(action):
    child = os.fork()
    if child == 0:
        try:
            action()
        except OSError as error:
            os._exit(error.errno)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        raise OSError(code, "refused")


def execute(path):
    in_child(lambda: os.execv(path, [path]))


def execute_descriptor(path):
    fd = os.open(path, os.O_RDONLY)
    in_child(lambda: os.execve(fd, [path], {}))
    os.close(fd)


def map_code(path):
    with open(path, "rb") as file:
        mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()


attempts = (execute, execute_descriptor, map_code)
places = filter(is_own, ("/tmp", "/home", "/dev/shm"))
own = {place: [attempt(action, place) for action in attempts] for place in places}
shared = filter(is_own, ("/workspace", "/results", "/scratch"))
kept = {place: [attempt(action, place) for action in attempts[:2]] for place in shared}
print(json.dumps({"own": own, "kept": kept}))
