"""Writes to a socket of its own by its number, and opens the same files of its process."""

import socket

ours, theirs = socket.socketpair()
CHANNEL = ours.fileno()


def open_own(name, flags=os.O_RDWR):
    os.close(os.open(f"/proc/self/{name}", flags))


for name in ("write_by_number", "write_file_by_number"):
    attempt(name, lambda: os.write(CHANNEL, b"x"))
for name in ("open_channel", "open_channel_to_write", "copy_to_channel"):
    attempt(name, lambda: os.close(os.dup(CHANNEL)))
attempt("read_by_number", lambda: (theirs.send(b"x"), os.read(CHANNEL, 1)))
attempt("close_by_number", lambda: os.close(os.dup(CHANNEL)))
attempt("write_memory", lambda: open_own("mem"))
attempt("protect_from_kill", lambda: open_own("oom_score_adj"))
attempt("rename_process", lambda: open_own("comm"))
attempt("own_directory", lambda: os.listdir("/proc/self"))
look("name_of_host", os.uname().nodename not in ("codeyard", "sandbox"))
