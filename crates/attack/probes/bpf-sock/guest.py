"""Attaches a BPF filter of one instruction to its own socket."""

import socket
import struct

ATTACH = 26
ours, theirs = socket.socketpair()
accept = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0xFFFFFFFF))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(accept)))
attempt("attach_filter", lambda: call(54, ours.fileno(), 1, ATTACH, ctypes.addressof(program), 16))
attempt("high_level", lambda: call(54, ours.fileno(), 1 << 32 | 1, ATTACH, ctypes.addressof(program), 16))
