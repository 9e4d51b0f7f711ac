"""Tries the same without changing this machine."""

CANARY = given["host"]["file"]
SYSTEM_FILE = "/usr/lib/os-release"
SET_USER_ID = 0o4755


def open_for_writing(path):
    os.close(os.open(path, os.O_WRONLY))


def may_write(directory):
    if not os.access(directory, os.W_OK):
        raise OSError(errno.EACCES, "refused")


def own(name):
    open(name, "w").close()
    return name


def touch_as_it_is(path):
    """Sets the times that it has; the kernel checks the same."""
    status = os.stat(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def mode_at_making():
    os.close(os.open("d", os.O_CREAT | os.O_WRONLY, SET_USER_ID))


for name in ("write_canary", "append_to_canary", "truncate_canary"):
    attempt(name, lambda: open_for_writing(CANARY))
for name in ("rename_canary", "remove_canary", "remove_directory_of_canary"):
    attempt(name, lambda: may_write(given["host"]["directory"]))
attempt("write_system_file", lambda: open_for_writing(SYSTEM_FILE))
attempt("write_users", lambda: open_for_writing("/etc/passwd"))
attempt("make_directories", lambda: may_write("/var/lib"))
attempt("make_in_root", lambda: may_write("/"))
attempt("make_in_system", lambda: may_write("/usr/lib"))
attempt("touch_system_file", lambda: touch_as_it_is(SYSTEM_FILE))
attempt("chmod_system_file", lambda: os.chmod(SYSTEM_FILE, os.stat(SYSTEM_FILE).st_mode & 0o7777))
for name in ("chmod_user", "chmod_group", "fchmod_user"):
    attempt(name, lambda: os.chmod(own(name), SET_USER_ID))
for name in ("open_user", "write_user", "mkdir_user"):
    attempt(name, mode_at_making)
attempt("chmod", lambda: os.chmod(own("g"), 0o755))
