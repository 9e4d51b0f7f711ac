"""Searches its own process for anything foreign."""

attempt("write_memory", lambda: os.close(os.open("/proc/self/mem", os.O_RDWR)))
if given["inside"]:
    attempt("channel_again", lambda: os.close(os.open("/proc/self/fd/3", os.O_RDWR)))
look("names_of_host", os.uname().nodename != "sandbox")
look("parent", os.getppid() != 0)
look("other_session", os.getsid(0) != os.getpid())
