"""Unmounts what covers the host's /proc, and looks in /proc for anything but the session's processes."""

own = {os.getpid(), os.getppid()}
if given["inside"]:
    attempt("uncover", lambda: call(166, os.path.realpath("/proc").encode(), 2))
look("switches", os.path.exists("/proc/sys") or os.path.exists("/proc/kallsyms"))
look("other_processes", any(name.isdigit() and int(name) not in own for name in os.listdir("/proc")))
