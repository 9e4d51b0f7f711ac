"""Finds the files below `/workspace`, `/results` and `/scratch` that a run has made or changed."""

import os
import stat
import sys
from time import time_ns

from codeyard import images, places

MOST_FILES = 1_000
_MOST_LOOKED_AT = 2_000
_MAX_DEPTH = 16
# File time stamps advance in steps of up to 10 ms.
_CLOCK_STEP_NS = 20_000_000
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
# Directories of interpreters and editors.
_NOT_LISTED = frozenset({"__pycache__", "node_modules"})
# Libraries that open files themselves, unseen by Python's audit hook.
_OPEN_THEMSELVES = ("pyarrow", "polars", "duckdb", "cv2", "h5py", "lxml", "torch", "netCDF4")
# Events of the audit hook, with the position of the path among their arguments.
EVENTS = {"open": 0, "os.rename": 1, "os.truncate": 0, "sqlite3.connect": 0}


class Written:
    """Collects the paths that a run opens for writing, and examines them at its end."""

    def __init__(self):
        self._paths = {}
        self._is_complete = True
        self._start = 0
        self._known = {}

    def begin(self):
        self._paths.clear()
        self._is_complete = True
        self._start = time_ns() - _CLOCK_STEP_NS

    def seen(self, event, args):
        """Takes an event of `EVENTS`."""
        if event == "open" and not (type(args[2]) is int and args[2] & _WRITES):
            return
        if len(self._paths) >= MOST_FILES:
            self._is_complete = False
            return
        try:
            path = os.fsdecode(args[EVENTS[event]])
            self._paths[os.path.join(os.getcwd(), path)] = None
        except (TypeError, OSError, UnicodeError):
            pass  # A descriptor, or a place that is gone.

    def files(self, others_wrote):
        """Path, size and real path of each new or changed file, sorted by path.

        `others_wrote` tells that processes or tools may have written too.
        """
        looks = others_wrote or not self._is_complete or any(name in sys.modules for name in _OPEN_THEMSELVES)
        if not looks and not self._paths:
            return []
        roots = _roots()
        marks = {}
        for path in self._paths:
            self._look(places.listed(path, roots), marks)
        if looks:
            self._scan(roots, marks)
        changed = [(path, mark[1], mark[3]) for path, mark in marks.items() if self._known.get(path) != mark]
        # Files of runs that ended within one clock step must not look new.
        self._known = {path: mark for path, mark in self._known.items() if mark[0] >= self._start} | marks
        return sorted(changed)[:MOST_FILES]

    def _look(self, place, marks):
        if place is None:
            return
        listed, path = place
        try:
            status = os.lstat(path)
        except (OSError, ValueError):
            return
        if stat.S_ISREG(status.st_mode) and status.st_ctime_ns >= self._start:
            marks[listed] = (status.st_ctime_ns, status.st_size, status.st_ino, path)

    def _scan(self, roots, marks):
        waiting = [(listed, real, 0) for listed, real in roots.items()]
        looked_at = 0
        while waiting and looked_at < _MOST_LOOKED_AT:
            listed, real, depth = waiting.pop()
            try:
                entries = os.scandir(real)
            except OSError:
                continue
            with entries:
                for entry in entries:
                    looked_at += 1
                    if looked_at > _MOST_LOOKED_AT or entry.name in _NOT_LISTED or entry.name.startswith("."):
                        continue
                    if not entry.is_dir(follow_symlinks=False):
                        self._look((f"{listed}/{entry.name}", entry.path), marks)
                    elif depth < _MAX_DEPTH:
                        waiting.append((f"{listed}/{entry.name}", entry.path, depth + 1))


def _roots():
    """The real paths of the listed directories, by name."""
    return {"/workspace": places.WORKSPACE, "/results": places.RESULTS, "/scratch": places.SCRATCH}


def read_image(path):
    """The bytes of an image file; `None` for other files, or if too large to show."""
    if not path.lower().endswith(images.SUFFIXES):
        return None
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    with open(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > images.MAX_BYTES:
            return None
        return file.read(images.MAX_BYTES)
