"""Opens files of the host: secrets, canaries that the test planted, devices, and settings of the kernel."""

CANARY = given["host"]["file"]
# Not a program: others could not start it while it is open for writing.
SYSTEM_FILE = "/usr/lib/os-release"
DEVICES = ("mem", "kmsg", "tty", "fuse", "kvm", "ptmx", "net/tun", "loop-control", "rtc0", "hwrng")
KERNEL = ("kcore", "kallsyms", "cmdline", "keys", "meminfo", "sys/kernel/core_pattern", "sysrq-trigger", "modules")


def read(path):
    with open(path, "rb") as file:
        file.read(64)


def open_for_writing(path):
    os.close(os.open(path, os.O_WRONLY))


def times(path):
    """A file's current times; writing them back changes nothing."""
    status = os.stat(path)
    return status.st_atime_ns, status.st_mtime_ns


def any_of(paths, action):
    """Raises ENOENT if every path is absent or refused."""
    for path in paths:
        try:
            return action(path)
        except OSError:
            pass
    raise OSError(errno.ENOENT, "none")


def through_root(path):
    return lambda: read("/proc/self/root/" + "../" * 8 + path.lstrip("/"))


def below(directory):
    """Opens `..` more often than the directory is deep, then opens the canary below the root that it reached."""
    here = os.open(directory, os.O_RDONLY)
    for _ in range(40):
        here = os.open("..", os.O_RDONLY, dir_fd=here)
    return os.open(CANARY.lstrip("/"), os.O_RDONLY, dir_fd=here)


attempt("shadow", lambda: read("/etc/shadow"))
attempt("machine_id", lambda: read("/etc/machine-id"))
attempt("canary", lambda: read(CANARY))
attempt("write_canary", lambda: open_for_writing(CANARY))
attempt("remove_canary", lambda: os.rename(CANARY, CANARY))
attempt("list_directory_of_canary", lambda: os.listdir(os.path.dirname(CANARY)))
attempt("through_root", through_root(CANARY))
attempt("through_working_directory", lambda: read("/proc/self/cwd/" + "../" * 40 + CANARY.lstrip("/")))
attempt("through_descriptors", lambda: os.close(below(".")))
LINK = f"link-{os.urandom(8).hex()}"
attempt("through_link", lambda: (os.symlink(CANARY, LINK), read(LINK)))
attempt("root_home", lambda: os.listdir("/root"))
attempt("homes", lambda: os.stat("/home/../root"))
attempt("sys", lambda: os.listdir("/sys/kernel"))
attempt("run", lambda: os.listdir("/run"))
attempt("var", lambda: os.listdir("/var/lib"))
attempt("boot", lambda: os.listdir("/boot"))
attempt("devices", lambda: any_of([f"/dev/{name}" for name in DEVICES], os.stat))
attempt("disks", lambda: any_of([f"/dev/{name}" for name in os.listdir("/dev") if name[:2] in ("sd", "vd", "nv")], os.stat))
attempt("kernel_files", lambda: any_of([f"/proc/{name}" for name in KERNEL], os.stat))
attempt("host_name_of_kernel", lambda: open_for_writing("/proc/sys/kernel/hostname"))
attempt("write_system_file", lambda: open_for_writing(SYSTEM_FILE))
attempt("write_users", lambda: open_for_writing("/etc/passwd"))
attempt("touch_system_file", lambda: os.utime(SYSTEM_FILE, ns=times(SYSTEM_FILE)))
