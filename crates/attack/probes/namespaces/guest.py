"""Tries to mount, change its root, and enter other namespaces."""

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


def mount(source, target, kind, flags):
    call(165, source, target, kind, flags, 0)


def remount():
    mount(b"none", DIRECTORY, b"tmpfs", 0)
    mount(b"none", DIRECTORY, b"none", REMOUNT | BIND)


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
        pass  # CLONE_PARENT was allowed: the new process is a sibling.


def enter(kind):
    namespace = os.open(f"/proc/self/ns/{kind}", os.O_RDONLY)
    call(308, namespace, 0)


def owner(kind):
    """The user namespace that owns another namespace: NS_GET_USERNS."""
    os.close(call(16, os.open(f"/proc/self/ns/{kind}", os.O_RDONLY), 0xB701))


def pivot():
    call(272, NEW["mount"])  # Without a new mount namespace, the change would affect other processes.
    mount(b"none", DIRECTORY, b"tmpfs", 0)
    os.chdir(DIRECTORY)
    call(155, b".", b".")


no_change = ctypes.create_string_buffer(32)
os.mkdir(DIRECTORY)
attempt_in_child("mount_tmpfs", lambda: mount(b"none", DIRECTORY, b"tmpfs", 0))
attempt_in_child("mount_proc", lambda: mount(b"none", DIRECTORY, b"proc", 0))
attempt_in_child("mount_bind", lambda: mount(b"/", DIRECTORY, b"none", BIND | RECURSIVE))
attempt_in_child("remount", remount)
attempt_in_child("umount", lambda: (mount(b"none", DIRECTORY, b"tmpfs", 0), call(166, DIRECTORY, 2)))
attempt_in_child("fsopen", mount_the_new_way)
attempt_in_child("open_tree", lambda: os.close(call(428, HERE, b"/", 1 | 0x8000)))
attempt_in_child("fspick", lambda: os.close(call(433, HERE, b"/", 0)))
attempt_in_child("mount_setattr", lambda: call(442, HERE, b"/", 0, ctypes.addressof(no_change), 32))
attempt_in_child("pivot_root", pivot)
attempt_in_child("chroot", lambda: os.chroot(DIRECTORY))
for name, flag in NEW.items():
    attempt_in_child(f"unshare_{name}", lambda: call(272, flag))
    if name != "time":
        attempt(f"clone_{name}", lambda: clone_with(flag))
for name in ("mnt", "uts", "ipc", "net", "cgroup"):
    attempt_in_child(f"setns_{name}", lambda: enter(name))
attempt_in_child("setns_user", lambda: enter("user"))
attempt_in_child("owner_of_mounts", lambda: owner("mnt"))
attempt_in_child("clone_parent", lambda: clone_with(0x8000))
attempt_in_child("clone_ptrace", lambda: clone_with(0x2000))
attempt_in_child("sethostname", lambda: call(170, b"renamed", 7))
attempt_in_child("setdomainname", lambda: call(171, b"renamed", 7))
attempt_in_child("shmget", lambda: call(29, 0, 4096, 0o600))
attempt_in_child("semget", lambda: call(64, 0, 1, 0o600))
attempt_in_child("msgget", lambda: call(68, 0, 0o600))
attempt_in_child("mq_open", lambda: os.close(call(240, b"codeyard", 0o102, 0o600, 0)))
attempt_in_child("umount_own_proc", lambda: call(166, b"/proc/", 2))
