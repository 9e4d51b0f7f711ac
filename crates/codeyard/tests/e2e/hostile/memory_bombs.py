"""Takes memory without end: in one process, shared, as files of memory, and in many processes at once.

Runs only where a limit stops it.
"""

import mmap
import signal

if os.uname().nodename != "sandbox":
    raise SystemExit("this fills whatever it runs on, so it runs in sessions only")

PIECE = 4 << 20


def without_end(take):
    kept = []
    while True:
        kept.append(take())


def mapped(flags):
    area = mmap.mmap(-1, PIECE, flags=flags)
    for offset in range(0, PIECE, mmap.PAGESIZE):
        area[offset] = 1
    return area


def file_of_memory():
    descriptor = os.memfd_create("bomb")
    try:
        while True:
            os.write(descriptor, bytes(PIECE))
    finally:
        os.close(descriptor)


def in_many_processes():
    """Every child holds three quarters of the session's memory for a while."""
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            areas = [mapped(mmap.MAP_PRIVATE) for _ in range(given["memory"] * 3 // 4 // PIECE)]
            signal.sigtimedwait([signal.SIGUSR1], 3)
            os._exit(len(areas) and 0)
        children.append(child)
    killed = 0
    for child in children:
        killed += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    print(f"in_many_processes: {'SIGKILL' if killed else 'allowed'}", flush=True)


attempt("in_one_process", lambda: without_end(lambda: bytearray(PIECE)))
attempt("mapped_private", lambda: without_end(lambda: mapped(mmap.MAP_PRIVATE)))
attempt("mapped_shared", lambda: without_end(lambda: mapped(mmap.MAP_SHARED)))
if given["many"]:
    in_many_processes()
if given["file"]:
    attempt("file_of_memory", file_of_memory)
