"""Looks for shared, writable mappings in its own memory; outside a session, makes one first."""

import mmap

own = None if given["inside"] else mmap.mmap(-1, mmap.PAGESIZE)
with open("/proc/self/maps") as lines:
    rights = [line.split()[1] for line in lines]
look("shared_and_writable", any("w" in right and "s" in right for right in rights))
