"""A file system in user space with an empty root, which answers until it is told to hang, and goes when its input ends.

    hanging.py DIRECTORY
"""

import ctypes
import os
import select
import struct
import sys

LOOKUP, GETATTR, FORGET, STATFS, INIT, OPENDIR, READDIR, RELEASEDIR, INTERRUPT = 1, 3, 2, 17, 26, 27, 28, 29, 36
HEADER = struct.Struct("IIQQIIIHH")
# Further flags follow, among them mounts that map users.
EXTENDED, MAPPED = 1 << 30, 1 << 8
DETACH = 2
NO_SUCH_FILE, NOT_IMPLEMENTED = 2, 38


def attributes():
    """Attributes of the root, which the kernel must request every time."""
    numbers = struct.pack("6Q", 1, 4096, 8, 0, 0, 0)
    others = struct.pack("10I", 0, 0, 0, 0o40755, 2, OWNER, OWNER, 0, 4096, 0)
    return struct.pack("QII", 0, 0, 0) + numbers + others


def answer(operation):
    if operation == INIT:
        return struct.pack("IIIIHHIIHHIIHxx20x", 7, 42, 4096, EXTENDED, 8, 8, 4096, 1, 0, 0, MAPPED, 0, 0)
    if operation == GETATTR:
        return attributes()
    if operation == STATFS:
        return struct.pack("5Q4I24x", 0, 0, 0, 0, 0, 4096, 255, 4096, 0)
    if operation == OPENDIR:
        return struct.pack("QII", 1, 0, 0)
    if operation in (READDIR, RELEASEDIR):
        return b""
    return None


def serve(device):
    """One request."""
    request = os.read(device, 1 << 17)
    _, operation, number, *_ = HEADER.unpack_from(request)
    if operation in (FORGET, INTERRUPT):
        return
    found = answer(operation)
    error = 0
    if found is None:
        error = -NO_SUCH_FILE if operation == LOOKUP else -NOT_IMPLEMENTED
    found = found or b""
    os.write(device, struct.pack("IiQ", 16 + len(found), error, number) + found)


def main():
    directory = sys.argv[1]
    libc = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40755,user_id=0,group_id=0,allow_other,default_permissions"
    if libc.mount(b"hanging", directory.encode(), b"fuse", 0, options.encode()) != 0:
        raise OSError(ctypes.get_errno(), "mount")
    print("mounted", flush=True)
    hangs = False
    while True:
        ready, _, _ = select.select([device, 0], [], [])
        if 0 in ready:
            if not os.read(0, 100):
                break
            hangs = True
            print("hangs", flush=True)
        elif hangs:
            # Read and never answered: the calling process cannot even be killed.
            os.read(device, 1 << 17)
        else:
            serve(device)
    libc.umount2(directory.encode(), DETACH)


OWNER = os.stat(sys.argv[1]).st_uid
main()
