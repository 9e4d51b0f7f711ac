"""Tries to mount, to change its root, and to take part in other namespaces."""

import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

HERE = -100
DIRECTORY = b"place"
NEW = {
    "time": 0x80,
    "mount": 0x20000,
    "cgroup": 0x2000000,
    "uts": 0x4000000,
    "ipc": 0x8000000,
    "user": 0x10000000,
    "pid": 0x20000000,
    "net": 0x40000000,
}
BIND, REMOUNT, RECURSIVE = 4096, 32, 16384
CHILD_SIGNAL = 17


def call(number, *arguments):
    """A system call by its number; raises what the kernel answers."""
    words = [ctypes.c_char_p(word) if isinstance(word, bytes) else ctypes.c_long(word) for word in arguments]
    result = libc.syscall(ctypes.c_long(number), *words)
    if result == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def attempt(name, action):
    """Says how the attempt ended. Each has a process of its own, so that none changes where the next one stands."""
    child = os.fork()
    if child == 0:
        try:
            action()
        except OSError as error:
            os._exit(error.errno)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(f"{name}: {errno.errorcode[code] if code else 'allowed'}", flush=True)


def mount(source, target, kind, flags):
    call(165, source, target, kind, flags, 0)


def remount():
    mount(b"none", DIRECTORY, b"tmpfs", 0)
    mount(b"none", DIRECTORY, b"none", REMOUNT | BIND)


def remount_root_writable():
    mount(b"none", b"/", b"none", REMOUNT | BIND)


def mount_the_new_way():
    system = call(430, b"tmpfs", 0)
    call(431, system, 6, 0, 0, 0)
    mounted = call(432, system, 0, 0)
    call(429, mounted, b"", HERE, DIRECTORY, 4)


def clone_with(flag):
    child = call(56, flag | CHILD_SIGNAL, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    try:
        os.waitpid(child, 0)
    except ChildProcessError:
        pass  # It is a sibling: CLONE_PARENT was allowed.


def enter(kind):
    namespace = os.open(f"/proc/self/ns/{kind}", os.O_RDONLY)
    call(308, namespace, 0)


def pivot():
    call(272, NEW["mount"])  # Where this is allowed it would take the others along.
    mount(b"none", DIRECTORY, b"tmpfs", 0)
    os.chdir(DIRECTORY)
    call(155, b".", b".")


no_change = ctypes.create_string_buffer(32)
os.mkdir(DIRECTORY)
attempt("mount_tmpfs", lambda: mount(b"none", DIRECTORY, b"tmpfs", 0))
attempt("mount_proc", lambda: mount(b"none", DIRECTORY, b"proc", 0))
attempt("mount_bind", lambda: mount(b"/", DIRECTORY, b"none", BIND | RECURSIVE))
attempt("remount", remount)
attempt("umount", lambda: (mount(b"none", DIRECTORY, b"tmpfs", 0), call(166, DIRECTORY, 2)))
attempt("fsopen", mount_the_new_way)
attempt("open_tree", lambda: os.close(call(428, HERE, b"/", 1 | 0x8000)))
attempt("fspick", lambda: os.close(call(433, HERE, b"/", 0)))
attempt("mount_setattr", lambda: call(442, HERE, b"/", 0, ctypes.addressof(no_change), 32))
attempt("pivot_root", pivot)
attempt("chroot", lambda: os.chroot(DIRECTORY))
for name, flag in NEW.items():
    attempt(f"unshare_{name}", lambda: call(272, flag))
    if name != "time":
        attempt(f"clone_{name}", lambda: clone_with(flag))
for name in ("mnt", "uts", "ipc", "net", "cgroup"):
    attempt(f"setns_{name}", lambda: enter(name))
attempt("clone_parent", lambda: clone_with(0x8000))
attempt("clone_ptrace", lambda: clone_with(0x2000))
attempt("sethostname", lambda: call(170, b"renamed", 7))
attempt("setdomainname", lambda: call(171, b"renamed", 7))
attempt("shmget", lambda: call(29, 0, 4096, 0o600))
attempt("semget", lambda: call(64, 0, 1, 0o600))
attempt("msgget", lambda: call(68, 0, 0o600))
attempt("mq_open", lambda: os.close(call(240, b"codeyard", 0o102, 0o600, 0)))
attempt("umount_own_proc", lambda: call(166, b"/proc/", 2))
