"""Runs a command below a filter of system calls: a kernel that lacks something, or a container that forbids it.

    refuse.py WHAT COMMAND [ARGUMENT...]
"""

import ctypes
import errno
import os
import struct
import sys

NEW_USER = 0x10000000
CLONE, UNSHARE, FSOPEN, CLONE3, LANDLOCK = 56, 272, 430, 435, 444

# For each call: its number, the index and the refused bits of an argument (or nothing), and the error.
WHAT = {
    # As container engines do: programs fall back from `clone3` to `clone`, whose flags a filter can see.
    "user-namespaces": [
        (CLONE, 0, NEW_USER, errno.EPERM),
        (UNSHARE, 0, NEW_USER, errno.EPERM),
        (CLONE3, None, None, errno.ENOSYS),
    ],
    "landlock-off": [(LANDLOCK, None, None, errno.EOPNOTSUPP)],
    "landlock-missing": [(LANDLOCK, None, None, errno.ENOSYS)],
    "landlock-forbidden": [(LANDLOCK, None, None, errno.EPERM)],
    "overlay": [(FSOPEN, None, None, errno.ENODEV)],
}

LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, ERROR = 0x7FFF0000, 0x00050000
NUMBER, ARGUMENTS = 0, 16
SET_NO_NEW_PRIVS, SET_SECCOMP, FILTER = 38, 22, 2


def instruction(code, value, yes=0, no=0):
    return struct.pack("HBBI", code, yes, no, value)


def program(rules):
    code = [instruction(LOAD, NUMBER)]
    for number, argument, bits, error in rules:
        refuse = instruction(RETURN, ERROR | error)
        if argument is None:
            code += [instruction(EQUAL, number, 0, 1), refuse]
        else:
            code += [
                instruction(EQUAL, number, 0, 4),
                instruction(LOAD, ARGUMENTS + 8 * argument),
                instruction(ANY_BIT, bits, 0, 1),
                refuse,
                instruction(RETURN, ALLOW),
            ]
    return code + [instruction(RETURN, ALLOW)]


def main():
    code = program(WHAT[sys.argv[1]])
    held = ctypes.create_string_buffer(b"".join(code))
    described = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(held)))
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in [(SET_NO_NEW_PRIVS, 1, 0, 0, 0), (SET_SECCOMP, FILTER, ctypes.addressof(described), 0, 0)]:
        if libc.prctl(*map(ctypes.c_ulong, arguments)) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
    os.execvp(sys.argv[2], sys.argv[2:])


main()
