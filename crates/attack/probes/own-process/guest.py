"""Opens its own memory and its channel for writing, and looks for the host in its host name, parent and session id."""

attempt("write_memory", lambda: os.close(os.open("/proc/self/mem", os.O_RDWR)))
if given["inside"]:
    attempt("channel_again", lambda: os.close(os.open("/proc/self/fd/3", os.O_RDWR)))
look("names_of_host", os.uname().nodename != "sandbox")
look("parent", os.getppid() != 0)
look("other_session", os.getsid(0) != os.getpid())
