"""Tries to become somebody else, to raise its own limits and priority, and to make files that others would obey."""

import ctypes
import errno
import os
import resource
import stat

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

HERE = -100
SET_USER, SET_GROUP = 0o4000, 0o2000


def call(number, *arguments):
    """A system call by its number; raises what the kernel answers."""
    words = [ctypes.c_char_p(word) if isinstance(word, bytes) else ctypes.c_long(word) for word in arguments]
    result = libc.syscall(ctypes.c_long(number), *words)
    if result == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def attempt(name, action):
    """Says how the attempt ended. Each has a process of its own, so that none changes who the next one is."""
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
    print(f"{name}: {errno.errorcode[code] if code else 'allowed'}", flush=True)


def raise_limit(kind):
    soft, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (hard, hard))


def capabilities():
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    call(126, ctypes.addressof(header), ctypes.addressof(data))


def user(path):
    os.chown(path, os.getuid(), os.getgid())


own = b"own"
limits = (ctypes.c_uint64 * 2)(64, 64)
descriptor = os.open(own, os.O_RDWR | os.O_CREAT, 0o600)

attempt("setuid", lambda: call(105, os.getuid()))
attempt("setgid", lambda: call(106, os.getgid()))
attempt("setresuid", lambda: call(117, -1, os.getuid(), -1))
attempt("setreuid", lambda: call(113, -1, os.getuid()))
attempt("setgroups", lambda: call(116, 0, 0))
attempt("capset", capabilities)
attempt("prctl_dumpable", lambda: call(157, 4, 0, 0, 0, 0))
attempt("prctl_dumpable_high_bits", lambda: call(157, (1 << 32) | 4, 0, 0, 0, 0))
attempt("prctl_keepcaps", lambda: call(157, 8, 1, 0, 0, 0))
attempt("prctl_pdeathsig", lambda: call(157, 1, 0, 0, 0, 0))
attempt("prctl_subreaper", lambda: call(157, 36, 1, 0, 0, 0))
attempt("prctl_name", lambda: call(157, 15, b"own", 0, 0, 0))
attempt("arch_prctl_gs", lambda: call(158, 0x1001, 0))
attempt("prlimit_nofile", lambda: raise_limit(resource.RLIMIT_NOFILE))
attempt("prlimit_nproc", lambda: raise_limit(resource.RLIMIT_NPROC))
attempt("prlimit_core", lambda: raise_limit(resource.RLIMIT_CORE))
attempt("setrlimit", lambda: call(160, 7, ctypes.addressof(limits)))
attempt("sched_setaffinity", lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)))
attempt("sched_setscheduler", lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)))
attempt("setpriority", lambda: os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0)))
attempt("ioprio_set", lambda: call(251, 1, 0, 2 << 13 | 7))
attempt("mlock", lambda: call(149, id(own) & ~4095, 4096))
attempt("oom_score", lambda: open("/proc/self/oom_score_adj", "w").write("900"))
attempt("chown", lambda: user(own))
attempt("fchown", lambda: user(descriptor))
attempt("lchown", lambda: os.lchown(own, os.getuid(), os.getgid()))
attempt("fchownat", lambda: call(260, HERE, own, os.getuid(), os.getgid(), 0))
for name, bits in {"setuid": SET_USER, "setgid": SET_GROUP}.items():
    attempt(f"chmod_{name}", lambda: os.chmod(own, 0o755 | bits))
    attempt(f"chmod_{name}_high_bits", lambda: call(90, own, 1 << 32 | 0o755 | bits))
    attempt(f"fchmod_{name}", lambda: os.fchmod(descriptor, 0o755 | bits))
    attempt(f"fchmodat_{name}", lambda: call(268, HERE, own, 0o755 | bits))
    attempt(f"fchmodat2_{name}", lambda: call(452, HERE, own, 0o755 | bits, 0))
    attempt(f"open_{name}", lambda: os.open(f"open-{name}", os.O_CREAT | os.O_WRONLY, 0o755 | bits))
    attempt(f"creat_{name}", lambda: call(85, f"creat-{name}".encode(), 0o755 | bits))
attempt("mkdir_setgid", lambda: call(83, b"directory", 0o755 | SET_GROUP) and None or os.rmdir("directory"))
attempt("mknod_fifo", lambda: os.mknod("fifo", stat.S_IFIFO | 0o600))
attempt("mknod_device", lambda: os.mknod("null", stat.S_IFCHR | 0o600, os.makedev(1, 3)))
attempt("setxattr", lambda: os.setxattr(own, "user.codeyard", b"x"))
attempt("chmod", lambda: os.chmod(own, 0o700))
