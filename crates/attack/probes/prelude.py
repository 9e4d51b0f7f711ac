"""Shared by hostile programs: system calls by number, and the words for an attempt's outcome."""

import ctypes
import errno
import json
import os
import tempfile
import threading

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def call(number, *arguments):
    """A system call by its number; raises the kernel's error."""
    words = [ctypes.c_char_p(word) if isinstance(word, bytes) else ctypes.c_long(word) for word in arguments]
    result = libc.syscall(ctypes.c_long(number), *words)
    if result == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def say(name, answer):
    """How an attempt ended, in one line."""
    print(f"{name}: {answer}", flush=True)


def attempt(name, action):
    """Runs the action and prints the outcome."""
    try:
        action()
    except MemoryError:
        say(name, "MemoryError")
    except OSError as error:
        say(name, errno.errorcode.get(error.errno, error.errno))
    except RuntimeError as error:  # no thread could be started
        say(name, error)
    else:
        say(name, "allowed")


def in_child(action):
    """The same action in its own process, so that later attempts are unaffected."""

    def forked():
        child = os.fork()
        if child == 0:
            try:
                action()
            except OSError as error:
                os._exit(error.errno)
            except ValueError:  # `resource` has no errno where the hard limit is in the way
                os._exit(errno.EPERM)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code:
            raise OSError(code, "refused")

    return forked


def look(name, is_open):
    """Prints whether something that must be closed is open."""
    say(name, "allowed" if is_open else "closed")


def start_process():
    """Starts a process and waits for its end."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def start_thread():
    """Starts a thread and waits for its end."""
    started = threading.Thread(target=lambda: None)
    started.start()
    started.join()


def attempt_in_child(name, action):
    """Like `attempt`, in its own process."""
    attempt(name, in_child(action))


takings = []


def exceed(name, take, most, give_back=lambda: None):
    """Takes this often, then releases; between two runs, the leftovers take (see `leave.py`)."""
    if given["between"]:
        takings.append((take, give_back))
        return

    def take_all():
        try:
            for number in range(most):
                take(number)
        finally:
            give_back()

    attempt(name, take_all)


def new_directory(name):
    """A new directory in the session's temporary one, outside in the current one. The host inspects it too."""
    place = os.path.join(tempfile.gettempdir() if given["inside"] else os.getcwd(), name)
    os.mkdir(place)
    say("place", place)
    return place
