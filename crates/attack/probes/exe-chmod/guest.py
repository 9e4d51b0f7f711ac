"""Sets the mode and the times of its own executable to their current values, and opens it for writing."""

own = os.stat("/proc/self/exe")
attempt("chmod", lambda: os.chmod("/proc/self/exe", own.st_mode & 0o7777))
attempt("utime", lambda: os.utime("/proc/self/exe", ns=(own.st_atime_ns, own.st_mtime_ns)))
attempt("write", lambda: os.close(os.open("/proc/self/exe", os.O_WRONLY)))
