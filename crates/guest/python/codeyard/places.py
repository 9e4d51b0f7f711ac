"""The directories that a program may write, as it sees them."""

import os

WORKSPACE = "/workspace"
RESULTS = "/results"
SCRATCH = "/scratch"

# Files below these are the program's own: their lines belong into a traceback.
OWN = ("/workspace/", "/results/", "/scratch/", "/skills/", "/home/", "/tmp/", "/rw/d/", "/at/")

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
