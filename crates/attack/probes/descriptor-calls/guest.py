"""Tries options, commands and flags of its own descriptors that would affect memory, other processes or terminals."""

import fcntl
import mmap
import socket
import struct

SOL_SOCKET, OUT_OF_BAND = 1, 1
PATH = "descriptors.data"


def option(name, value):
    ours.setsockopt(SOL_SOCKET, name, value)


def filter_of_one_instruction():
    accept = struct.pack("HBBI", 6, 0, 0, 0xFFFFFFFF)
    held = ctypes.create_string_buffer(accept)
    program = struct.pack("HxxxxxxQ", 1, ctypes.addressof(held))
    option(26, program)


def out_of_band(number, *arguments):
    """Makes the call with the out-of-band flag on a new socket pair, which holds an out-of-band byte if possible."""
    ours, theirs = socket.socketpair()
    try:
        theirs.send(b"x", OUT_OF_BAND)
    except OSError:
        pass
    ours.setblocking(False)
    call(number, ours.fileno(), *arguments, OUT_OF_BAND, 0, 0)


def type_into_terminal(request):
    """Puts a character into the input of a terminal, if there is one."""
    try:
        follower = os.openpty()[1]
    except OSError:
        follower = 0
    call(16, follower, request, b"x")


def map_pages(flags):
    mmap.mmap(-1, 2 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | flags).close()


ours, theirs = socket.socketpair()
reader, writer = os.pipe()
own = os.open(PATH, os.O_RDWR | os.O_CREAT, 0o600)
os.write(own, bytes(8192))
area = mmap.mmap(-1, 4 * 4096)
address = ctypes.addressof(ctypes.c_char.from_buffer(area))
vector = (ctypes.c_size_t * 2)(address, 1)
at_vector = ctypes.addressof(vector)
message = (ctypes.c_size_t * 8)(0, 0, at_vector, 1, 0, 0, 0, 0)
at_message = ctypes.addressof(message)

attempt("send_buffer", lambda: option(socket.SO_SNDBUF, 1 << 20))
attempt("receive_buffer", lambda: option(socket.SO_RCVBUF, 1 << 20))
attempt("send_buffer_high_level", lambda: call(54, ours.fileno(), 1 << 32 | SOL_SOCKET, 7, at_vector, 4))
attempt("attach_filter", filter_of_one_instruction)
attempt("busy_poll", lambda: option(46, 0))
attempt("keepalive", lambda: option(socket.SO_KEEPALIVE, 1))
attempt("peer_pidfd", lambda: ours.getsockopt(SOL_SOCKET, 77))
attempt("sendto_out_of_band", lambda: out_of_band(44, address, 1))
attempt("recvfrom_out_of_band", lambda: out_of_band(45, address, 1))
attempt("sendmsg_out_of_band", lambda: out_of_band(46, at_message))
attempt("recvmsg_out_of_band", lambda: out_of_band(47, at_message))
attempt("sendmmsg_out_of_band", lambda: out_of_band(307, at_message, 1))
attempt("recvmmsg_out_of_band", lambda: out_of_band(299, at_message, 1))
attempt("pipe_size", lambda: fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 1 << 17))
attempt("lease", lambda: fcntl.fcntl(own, fcntl.F_SETLEASE, fcntl.F_WRLCK))
attempt("lease_end", lambda: fcntl.fcntl(own, fcntl.F_SETLEASE, fcntl.F_UNLCK))
attempt("notify", lambda: fcntl.fcntl(os.open(".", os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_CREATE))
attempt("owner", lambda: fcntl.fcntl(ours, fcntl.F_SETOWN, os.getpid()))
attempt("owner_high_bits", lambda: call(72, ours.fileno(), 1 << 32 | 8, os.getpid()))
attempt("pseudo_terminal", os.openpty)
attempt("terminal_input", lambda: type_into_terminal(0x5412))
attempt("terminal_input_high_bits", lambda: type_into_terminal(1 << 32 | 0x5412))
attempt("interface_list", lambda: call(16, ours.fileno(), 0x8912, address))
attempt("huge_pages", lambda: map_pages(0x40000))
attempt("locked_pages", lambda: map_pages(0x2000))
attempt("advise_pageout", lambda: call(28, address, 4096, 21))
attempt("advise_mergeable", lambda: call(28, address, 4096, 12))
attempt("advise_populate", lambda: call(28, address, 4096, 23))
attempt("fallocate_keep_size", lambda: call(285, own, 1, 0, 1 << 20))
attempt("fallocate_punch_hole", lambda: call(285, own, 3, 0, 4096))
attempt("read_nowait", lambda: call(327, own, at_vector, 1, 0, 0, 8))
attempt("write_dsync", lambda: call(328, own, at_vector, 1, 0, 0, 2))
attempt("advise_dontneed", lambda: os.posix_fadvise(own, 0, 0, os.POSIX_FADV_DONTNEED))
attempt("sync_file_range", lambda: call(277, own, 0, 4096, 2))
attempt("membarrier_global", lambda: call(324, 2, 0, 0))
attempt("tee", lambda: (os.write(writer, b"x"), call(276, reader, os.pipe()[1], 1, 0)))
attempt("vmsplice", lambda: call(278, writer, at_vector, 1, 0))
attempt("memfd_huge", lambda: os.close(os.memfd_create("m", 4)))
attempt("memfd_no_seal", lambda: os.close(os.memfd_create("m", 8)))
attempt("memfd", lambda: os.close(os.memfd_create("m")))
attempt("flock", lambda: fcntl.flock(own, fcntl.LOCK_EX))
os.unlink(PATH)
