"""Requests a new user namespace with clone, also with high bits set in the flags, with clone3 and with unshare."""

NEW_USER, CHILD_SIGNAL = 0x10000000, 17


def clone(flags):
    child = call(56, flags | CHILD_SIGNAL, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def clone3():
    arguments = (ctypes.c_uint64 * 8)(NEW_USER, 0, 0, 0, CHILD_SIGNAL, 0, 0, 0)
    child = call(435, ctypes.addressof(arguments), 64)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


attempt("clone", lambda: clone(NEW_USER))
attempt("clone_high_bits", lambda: clone(1 << 32 | NEW_USER))
attempt("clone3", clone3)
attempt_in_child("unshare", lambda: call(272, NEW_USER))
