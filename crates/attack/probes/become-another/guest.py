"""Tries to change its user, raise its limits and priority, and make set-user-id files and devices."""

import resource
import stat

HERE = -100
SET_USER, SET_GROUP = 0o4000, 0o2000


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

attempt_in_child("setuid", lambda: call(105, os.getuid()))
attempt_in_child("setgid", lambda: call(106, os.getgid()))
attempt_in_child("setresuid", lambda: call(117, -1, os.getuid(), -1))
attempt_in_child("setreuid", lambda: call(113, -1, os.getuid()))
attempt_in_child("setgroups", lambda: call(116, 0, 0))
attempt_in_child("capset", capabilities)
attempt_in_child("prctl_dumpable", lambda: call(157, 4, 0, 0, 0, 0))
attempt_in_child("prctl_dumpable_high_bits", lambda: call(157, (1 << 32) | 4, 0, 0, 0, 0))
attempt_in_child("prctl_keepcaps", lambda: call(157, 8, 1, 0, 0, 0))
attempt_in_child("prctl_pdeathsig", lambda: call(157, 1, 0, 0, 0, 0))
attempt_in_child("prctl_subreaper", lambda: call(157, 36, 1, 0, 0, 0))
attempt_in_child("prctl_name", lambda: call(157, 15, b"own", 0, 0, 0))
attempt_in_child("arch_prctl_gs", lambda: call(158, 0x1001, 0))
attempt_in_child("prlimit_nofile", lambda: raise_limit(resource.RLIMIT_NOFILE))
attempt_in_child("prlimit_nproc", lambda: raise_limit(resource.RLIMIT_NPROC))
attempt_in_child("prlimit_core", lambda: raise_limit(resource.RLIMIT_CORE))
attempt_in_child("setrlimit", lambda: call(160, 7, ctypes.addressof(limits)))
attempt_in_child("sched_setaffinity", lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)))
attempt_in_child("sched_setscheduler", lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)))
attempt_in_child("setpriority", lambda: os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0)))
attempt_in_child("ioprio_set", lambda: call(251, 1, 0, 2 << 13 | 7))
attempt_in_child("mlock", lambda: call(149, id(own) & ~4095, 4096))
attempt_in_child("oom_score", lambda: open("/proc/self/oom_score_adj", "w").write("900"))
attempt_in_child("chown", lambda: user(own))
attempt_in_child("fchown", lambda: user(descriptor))
attempt_in_child("lchown", lambda: os.lchown(own, os.getuid(), os.getgid()))
attempt_in_child("fchownat", lambda: call(260, HERE, own, os.getuid(), os.getgid(), 0))
for name, bits in {"setuid": SET_USER, "setgid": SET_GROUP}.items():
    attempt_in_child(f"chmod_{name}", lambda: os.chmod(own, 0o755 | bits))
    attempt_in_child(f"chmod_{name}_high_bits", lambda: call(90, own, 1 << 32 | 0o755 | bits))
    attempt_in_child(f"fchmod_{name}", lambda: os.fchmod(descriptor, 0o755 | bits))
    attempt_in_child(f"fchmodat_{name}", lambda: call(268, HERE, own, 0o755 | bits))
    attempt_in_child(f"fchmodat2_{name}", lambda: call(452, HERE, own, 0o755 | bits, 0))
    attempt_in_child(f"open_{name}", lambda: os.open(f"open-{name}", os.O_CREAT | os.O_WRONLY, 0o755 | bits))
    attempt_in_child(f"creat_{name}", lambda: call(85, f"creat-{name}".encode(), 0o755 | bits))
attempt_in_child("mkdir_setgid", lambda: call(83, b"directory", 0o755 | SET_GROUP) and None or os.rmdir("directory"))
attempt_in_child("mknod_socket", lambda: os.mknod("socket", stat.S_IFSOCK | 0o600))
attempt_in_child("mknod_device", lambda: os.mknod("null", stat.S_IFCHR | 0o600, os.makedev(1, 3)))
attempt_in_child("setxattr", lambda: os.setxattr(own, "user.codeyard", b"x"))
attempt_in_child("chmod", lambda: os.chmod(own, 0o700))
