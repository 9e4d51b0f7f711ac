"""Which files below `/results` a run has made or changed."""

import os
import stat
from time import time_ns

from codeyard import images, places

MAX_ENTRIES = 1_000
_MAX_DEPTH = 16
# Time stamps of files advance in steps of up to 10 ms.
_CLOCK_STEP_NS = 20_000_000


class Artifacts:
    """Compares the files below `/results` from run to run."""

    def __init__(self):
        self._known = {}
        self._empty_since = None

    def changed(self):
        """Names of the files that are new or different since the last question, in order."""
        try:
            # A directory that was empty and is unchanged needs no scan.
            modified = os.stat(places.RESULTS).st_mtime_ns
            if self._empty_since == modified:
                return []
            settled = time_ns() - modified > _CLOCK_STEP_NS
            now = _scan(places.RESULTS)
        except OSError:
            return []
        before, self._known = self._known, now
        self._empty_since = modified if settled and not now else None
        return sorted(name for name, mark in now.items() if mark and before.get(name) != mark)


def _scan(root):
    """Marks of all entries below a directory; symbolic links are not followed and not named."""
    marks = {}
    waiting = [("", 0)]
    while waiting and len(marks) < MAX_ENTRIES:
        prefix, depth = waiting.pop()
        try:
            entries = os.scandir(os.path.join(root, prefix))
        except OSError:
            continue
        with entries:
            for entry in entries:
                if len(marks) >= MAX_ENTRIES:
                    break
                name = prefix + entry.name
                if entry.is_dir(follow_symlinks=False):
                    marks[name + "/"] = None
                    if depth < _MAX_DEPTH:
                        waiting.append((name + "/", depth + 1))
                elif entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    marks[name] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return marks


def read_image(name):
    """The bytes of an image file below `/results`; `None` if it is none or too large."""
    if not name.lower().endswith(images.SUFFIXES):
        return None
    try:
        fd = os.open(os.path.join(places.RESULTS, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with open(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > images.MAX_BYTES:
            return None
        return file.read(images.MAX_BYTES)
