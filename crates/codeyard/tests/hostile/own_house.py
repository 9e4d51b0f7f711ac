"""Looks at its own process for anything that is not its own: descriptors, mappings, capabilities, names."""

import errno
import mmap
import os
import stat


def attempt(name, action):
    """Says how the attempt ended."""
    try:
        action()
    except OSError as error:
        print(f"{name}: {errno.errorcode.get(error.errno, error.errno)}", flush=True)
    else:
        print(f"{name}: allowed", flush=True)


def kind(descriptor):
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISCHR(mode):
        return os.readlink(f"/proc/self/fd/{descriptor}").removeprefix("/dev/")
    return {stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}.get(stat.S_IFMT(mode), "other")


def open_descriptors():
    """Numbers and kinds of all; that of the listing itself is closed again."""
    kinds = {}
    for number in sorted(map(int, os.listdir("/proc/self/fd"))):
        try:
            kinds[number] = kind(number)
        except OSError:
            pass
    return " ".join(f"{number}={kind}" for number, kind in kinds.items())


def mounts():
    """Mount points with their options, the longest first."""
    found = []
    with open("/proc/self/mountinfo") as lines:
        for line in lines:
            fields = line.split()
            found.append((fields[4], fields[5].split(",")))
    return sorted(found, key=lambda mount: -len(mount[0]))


def on_writable_mount(path):
    for point, options in mounts():
        if path == point or path.startswith(point.rstrip("/") + "/"):
            return "rw" in options
    return True


def mapped():
    """Files that are mapped, and whether something is mapped shared and writable."""
    files, shared = set(), False
    with open("/proc/self/maps") as lines:
        for line in lines:
            fields = line.split(maxsplit=5)
            shared |= "w" in fields[1] and "s" in fields[1]
            if len(fields) == 6 and fields[5].startswith("/"):
                files.add(fields[5].strip())
    return {path for path in files if os.path.isfile(path)}, shared


def change_mapped():
    """Changes what every mapped file allows to its own values; raises EROFS if all refuse so."""
    for path in files:
        try:
            os.chmod(path, os.stat(path).st_mode & 0o777)
            return
        except OSError as error:
            if error.errno != errno.EROFS:
                raise
    raise OSError(errno.EROFS, "all")


area = mmap.mmap(-1, mmap.PAGESIZE) if os.getpid() != 1 else None  # outside, something to find
status = dict(line.rstrip("\n").split(":\t", 1) for line in open("/proc/self/status") if ":\t" in line)
files, shared = mapped()
exe = os.stat("/proc/self/exe")

print("descriptors:", open_descriptors())
print("mapped_files_writable:", "allowed" if any(map(on_writable_mount, files)) else "EROFS")
print("mapped_shared_writable:", "allowed" if shared else "none")
attempt("change_mapped_files", change_mapped)
attempt("chmod_exe", lambda: os.chmod("/proc/self/exe", exe.st_mode & 0o777))
attempt("touch_exe", lambda: os.utime("/proc/self/exe", ns=(exe.st_atime_ns, exe.st_mtime_ns)))
attempt("write_exe", lambda: os.close(os.open("/proc/self/exe", os.O_WRONLY)))
attempt("write_memory", lambda: os.close(os.open("/proc/self/mem", os.O_RDWR)))
attempt("channel_again", lambda: os.close(os.open("/proc/self/fd/3", os.O_RDWR)))
attempt("map_users", lambda: open("/proc/self/uid_map", "w").write("0 0 1\n"))
print("capabilities:", "none" if {status[name] for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16} else "allowed")
print("new_privileges:", "never" if status["NoNewPrivs"] == "1" else "allowed")
print("seccomp:", status["Seccomp"])
print("process:", os.getpid(), os.getppid())
print("host_name:", os.uname().nodename)
print("root_of_host_mapped:", "allowed" if any(line.split()[1] == "0" for line in open("/proc/self/uid_map")) else "no")
