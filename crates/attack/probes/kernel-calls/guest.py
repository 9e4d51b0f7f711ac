"""Makes system calls that no program of a session needs: tracing, keys, BPF, clocks, modules.

A call that could change the machine gets arguments with which it fails after the permission check.
"""

zeros = ctypes.create_string_buffer(4096)
buffer = ctypes.addressof(zeros)
words = (ctypes.c_uint32 * 32)


def words_at(*values):
    """The address of these 32-bit numbers, which are kept alive."""
    kept.append(words(*values))
    return ctypes.addressof(kept[-1])


kept = []
NOWHERE = b"/nonexistent"
own_file = os.open("kernel.data", os.O_RDWR | os.O_CREAT, 0o600)
os.write(own_file, bytes(8192))
page = (buffer + 4095) & ~4095
process_keyring = -2


def fork_with_clone3():
    child = call(435, words_at(0, 0, 0, 0, 0, 0, 0, 0, 17), 64)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def read_memory_of_a_child():
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
    vector = (ctypes.c_size_t * 2)(buffer, 16)
    try:
        call(310, child, ctypes.addressof(vector), 1, ctypes.addressof(vector), 1, 0)
    finally:
        os.close(writer)
        os.close(reader)
        os.waitpid(child, 0)


def splice_between_pipes():
    (one, two), (three, four) = os.pipe(), os.pipe()
    os.write(two, b"x")
    try:
        call(275, one, 0, four, 0, 1, 0)
    finally:
        for descriptor in (one, two, three, four):
            os.close(descriptor)


def steal_descriptor():
    process = call(434, os.getpid(), 0)
    try:
        os.close(call(438, process, own_file, 0))
    finally:
        os.close(process)


attempt("bpf", lambda: os.close(call(321, 0, words_at(2, 4, 4, 1), 128)))
attempt("io_uring_setup", lambda: os.close(call(425, 1, buffer)))
attempt("userfaultfd", lambda: os.close(call(323, 1)))
attempt("keyctl", lambda: call(250, 0, process_keyring, 1))
attempt("add_key", lambda: call(248, b"user", b"codeyard", b"x", 1, process_keyring))
attempt("request_key", lambda: call(249, b"user", b"codeyard-nowhere", 0, 0))
attempt("perf_event_open", lambda: os.close(call(298, words_at(1, 128), 0, -1, -1, 0)))
attempt("ptrace_traceme", in_child(lambda: call(101, 0, 0, 0, 0)))
attempt("process_vm_readv", read_memory_of_a_child)
attempt("pidfd_getfd", steal_descriptor)
attempt("kcmp", lambda: call(312, os.getpid(), os.getpid(), 2, 0, 0))
attempt("personality", in_child(lambda: call(135, 0x0040000)))
attempt("clone3", fork_with_clone3)
attempt("openat2", lambda: os.close(call(437, -100, b"/", words_at(0, 0, 0, 0, 0, 0), 24)))
attempt("splice", splice_between_pipes)
attempt("init_module", lambda: call(175, b"", 0, b""))
attempt("finit_module", lambda: call(313, -1, b"", 0))
attempt("delete_module", lambda: call(176, b"codeyard_nowhere", 0))
attempt("kexec_load", lambda: call(246, 0, 0, 0, 0xFFFF))
attempt("kexec_file_load", lambda: call(320, -1, -1, 0, 0, 0xFFFF))
attempt("swapon", lambda: call(167, NOWHERE, 0))
attempt("swapoff", lambda: call(168, NOWHERE))
attempt("reboot", lambda: call(169, 0, 0, 0, 0))
attempt("acct", lambda: call(163, NOWHERE))
attempt("settimeofday", lambda: call(164, 0, 0))
attempt("clock_settime", lambda: call(227, 0, 0))
attempt("adjtimex", lambda: call(159, buffer))
attempt("iopl", in_child(lambda: call(172, 3)))
attempt("modify_ldt", lambda: call(154, 0, buffer, 16))
attempt("syslog", lambda: call(103, 10, 0, 0))
attempt("open_by_handle_at", lambda: call(304, -1, buffer, 0))
attempt("fanotify_init", lambda: os.close(call(300, 0x200, 0)))
attempt("inotify_init", lambda: os.close(call(294, 0)))
attempt("timer_create", lambda: call(226, call(222, 1, 0, buffer) or 0))
attempt("mincore", lambda: call(27, page, 1, buffer))
attempt("readahead", lambda: call(187, own_file, 0, 4096))
attempt("get_mempolicy", lambda: call(239, 0, 0, 0, 0, 0))
attempt("move_pages", lambda: call(279, 0, 0, 0, 0, 0, 0))
attempt("process_madvise", lambda: call(440, -1, 0, 0, 20, 0))
attempt("memfd_secret", lambda: os.close(call(447, 0)))
attempt("landlock_create_ruleset", lambda: call(444, 0, 0, 1))
attempt("seccomp", lambda: call(317, 2, 0, words_at(0x7FFF0000)))
attempt("sysinfo", lambda: call(99, buffer))
attempt("statmount", lambda: call(457, buffer, buffer, 1, 0))
attempt("rt_sigqueueinfo", in_child(lambda: call(129, os.getpid(), 18, words_at(18, 0, 0xFFFFFFFF))))
