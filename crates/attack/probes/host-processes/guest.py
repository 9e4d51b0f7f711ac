"""Tries to see, signal, trace and read a process of the host whose pid it knows."""

import resource
import signal

victim = given["host"]["victim"]
ATTACH, DETACH = 16, 17


def trace():
    call(101, ATTACH, victim, 0, 0)
    os.waitpid(victim, 0x40000000)
    call(101, DETACH, victim, 0, 0)


def read_memory():
    with open(f"/proc/{victim}/mem", "rb"):
        pass


def read_memory_by_call():
    """Reads the first bytes of the victim's program, at the address in its maps or, if unreadable, at 4096."""
    address = 4096
    try:
        with open(f"/proc/{victim}/maps") as maps:
            address = int(maps.readline().split("-")[0], 16)
    except OSError:
        pass
    buffer = ctypes.create_string_buffer(4)
    mine = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 4)
    theirs = (ctypes.c_size_t * 2)(address, 4)
    call(310, victim, ctypes.addressof(mine), 1, ctypes.addressof(theirs), 1, 0)


def other_processes():
    """Raises ENOENT if /proc shows no process but this one."""
    numbers = [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    if not numbers:
        raise OSError(errno.ENOENT, "alone")


def signal_by_descriptor():
    process = os.pidfd_open(victim)
    signal.pidfd_send_signal(process, 0)


attempt("see", lambda: os.stat(f"/proc/{victim}"))
attempt("command", lambda: open(f"/proc/{victim}/cmdline").read())
attempt("environment", lambda: open(f"/proc/{victim}/environ").read())
attempt("memory", read_memory)
attempt("memory_by_call", read_memory_by_call)
attempt("root", lambda: os.listdir(f"/proc/{victim}/root/"))
attempt("descriptors", lambda: os.listdir(f"/proc/{victim}/fd"))
attempt("signal", lambda: os.kill(victim, 0))
attempt("signal_by_thread", lambda: call(200, victim, 0))
attempt("signal_by_descriptor", signal_by_descriptor)
attempt("signal_group", lambda: os.killpg(victim, 0))
attempt("trace", trace)
attempt("limits", lambda: resource.prlimit(victim, resource.RLIMIT_NOFILE))
attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, victim, 1))
attempt("cores", lambda: os.sched_setaffinity(victim, os.sched_getaffinity(0)))
attempt("scheduler", lambda: os.sched_getscheduler(victim))
attempt("others", other_processes)
