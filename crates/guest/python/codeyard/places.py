"""The directories that a program may write, under their program-visible names."""

import os

WORKSPACE = "/workspace"
RESULTS = "/results"
SCRATCH = "/scratch"
# A directory on the session's own file system, whose used size is the session's.
OWN_PLACE = "/tmp"

# Files below these are the program's own: tracebacks show their lines.
OWN = ("/workspace/", "/results/", "/scratch/", "/skills/", "/home/", "/tmp/", "/rw/d/", "/at/")

# Targets of the links under program-visible names.
_LINKED = {
    "/workspace": "/at/workspace",
    "/results": "/at/session/results",
    "/scratch": "/at/session/scratch",
    "/tmp": "/rw/d/tmp",
    "/home": "/rw/d/home",
    "/tools": "/at/shared/tools",
    "/skills": "/at/shared/skills",
}

# Whether the session has a file system of its own.
OWN_DISK = True

# Without mounts: the real directory of each documented path.
MOVED = {}


def move(real):
    """Sets the real directories, for a session without a mount namespace."""
    global WORKSPACE, RESULTS, SCRATCH, OWN_PLACE, OWN, OWN_DISK
    MOVED.update(real)
    WORKSPACE, RESULTS, SCRATCH, OWN_PLACE = (real[name] for name in ("/workspace", "/results", "/scratch", "/tmp"))
    OWN = tuple(path + "/" for path in real.values())
    OWN_DISK = False


def use(scratch, own_place):
    """Sets the directory of scratch files, and a directory on the session's own file system."""
    global SCRATCH, OWN_PLACE
    SCRATCH, OWN_PLACE = scratch, own_place


def install():
    """Makes Python's functions return program-visible names in place of link targets."""
    getcwd, realpath = os.getcwd, os.path.realpath
    os.getcwd = lambda: named(getcwd())
    os.getcwdb = lambda: os.fsencode(os.getcwd())
    os.path.realpath = lambda filename, **how: _named_like(realpath(filename, **how))


def _named_like(path):
    return named(path) if isinstance(path, str) else os.fsencode(named(os.fsdecode(path)))


def named(path):
    """A path by its program-visible name: `/workspace/a` for `/at/workspace/a`."""
    if path.startswith(("/at/", "/rw/d/")):
        for name, real in _LINKED.items():
            if path == real or path.startswith(real + "/"):
                return name + path[len(real) :]
    return path


def listed(path, roots):
    """Name and real path of a file below one of `roots` (real directories by name); `None` for other files."""
    path = os.path.normpath(path)
    for name, real in roots.items():
        for prefix in (name + "/", _LINKED[name] + "/", real + "/"):
            if path.startswith(prefix):
                rest = path[len(prefix) :]
                return f"{name}/{rest}", f"{real}/{rest}"
    return None


def actual(path):
    """The real path of a documented path such as `/results/a.png` in this session."""
    path = os.fspath(path)
    place = _moved(path)
    return path if place is None else MOVED[place] + path[len(place) :]


def hint(path):
    """The note for a documented path that lies elsewhere here; `None` for other paths."""
    if not isinstance(path, str) or _moved(path) is None:
        return None
    return f"this sandbox cannot mount: {path} is at runtime.path({path!r})"


def _moved(path):
    """The documented directory of a path, if directories lie elsewhere here."""
    for place in MOVED:
        if path == place or path.startswith(place + "/"):
            return place
    return None
