"""Requests huge pages by memfd and by mmap."""

import mmap

HUGE_FILE, HUGE_MAPPING = 4, 0x40000
attempt("memfd", lambda: os.close(os.memfd_create("huge", HUGE_FILE)))
attempt("mapped", lambda: mmap.mmap(-1, 2 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | HUGE_MAPPING).close())
