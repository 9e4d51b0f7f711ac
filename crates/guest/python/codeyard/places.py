"""The directories that a program may write, as it sees them."""

import os

WORKSPACE = "/workspace"
RESULTS = "/results"
SCRATCH = "/scratch"

# Files below these are the program's own: their lines belong into a traceback.
OWN = ("/workspace/", "/results/", "/scratch/", "/skills/", "/home/", "/tmp/", "/rw/d/", "/at/")

# What the links of the names that programs know lead to.
_LINKED = {
    "/workspace": "/at/workspace",
    "/results": "/at/results",
    "/scratch": "/rw/d/scratch",
    "/tmp": "/rw/d/tmp",
    "/home": "/rw/d/home",
    "/tools": "/at/shared/tools",
    "/skills": "/at/shared/skills",
}

# Whether scratch is a file system of the session's own, so that its size says what the session holds.
OWN_DISK = True

# Where nothing can be mounted, each place of the contract by where it really is.
MOVED = {}


def move(real):
    """Names the real directories of the places, for a session without a mount namespace."""
    global WORKSPACE, RESULTS, SCRATCH, OWN, OWN_DISK
    MOVED.update(real)
    WORKSPACE, RESULTS, SCRATCH = real["/workspace"], real["/results"], real["/scratch"]
    OWN = tuple(path + "/" for path in real.values())
    OWN_DISK = False


def use_scratch(path):
    """Makes another directory the one on the session's own file system."""
    global SCRATCH
    SCRATCH = path


def install():
    """Has Python's functions say the names that programs know, not what their links lead to."""
    getcwd, realpath = os.getcwd, os.path.realpath
    os.getcwd = lambda: named(getcwd())
    os.getcwdb = lambda: os.fsencode(os.getcwd())
    os.path.realpath = lambda filename, **how: _named_like(realpath(filename, **how))


def _named_like(path):
    return named(path) if isinstance(path, str) else os.fsencode(named(os.fsdecode(path)))


def named(path):
    """A path by the name that programs know: `/workspace/a` for `/at/workspace/a`."""
    if path.startswith(("/at/", "/rw/d/")):
        for name, real in _LINKED.items():
            if path == real or path.startswith(real + "/"):
                return name + path[len(real) :]
    return path


def listed(path, roots):
    """Name and real path of a file below one of some roots, which are given by their names; `None` if it lies elsewhere."""
    path = os.path.normpath(path)
    for name, real in roots.items():
        for prefix in (name + "/", _LINKED[name] + "/", real + "/"):
            if path.startswith(prefix):
                rest = path[len(prefix) :]
                return f"{name}/{rest}", f"{real}/{rest}"
    return None


def actual(path):
    """Where a path of the contract, such as `/results/a.png`, is in this session."""
    path = os.fspath(path)
    place = _moved(path)
    return path if place is None else MOVED[place] + path[len(place) :]


def hint(path):
    """What to say of a path that is elsewhere here; `None` if it is not."""
    if not isinstance(path, str) or _moved(path) is None:
        return None
    return f"this sandbox cannot mount: {path} is at runtime.path({path!r})"


def _moved(path):
    """The place that a path lies in, if places are elsewhere here."""
    for place in MOVED:
        if path == place or path.startswith(place + "/"):
            return place
    return None
