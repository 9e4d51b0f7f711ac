"""Checks the owner and mode of every foreign mount point and of its entries."""

import stat

OWN = ("/rw/d", "/at/workspace", "/at/session", "/k/proc", "/dev", "/workspace", "/tmp", "/proc")
# The uid that the kernel shows for unmapped owners: a session with this uid cannot compare numbers.
OVERFLOW = 65534


def places():
    """Mount points that are not the session's own; outside a session, the current directory, which the program owns."""
    if not given["inside"]:
        return [os.getcwd()]
    with open("/proc/self/mountinfo") as lines:
        points = [line.split()[4] for line in lines]
    return [point for point in points if not point.startswith(OWN)]


def visible():
    """Each place and its entries."""
    for place in places():
        yield place
        if os.path.isdir(place):
            below = (os.path.join(place, name) for name in sorted(os.listdir(place))[:200])
            yield from (path for path in below if path not in OWN)


def is_mine(path):
    """Whether this user owns the path: by uid, or because only the owner may open a file with O_NOATIME."""
    entry = os.lstat(path)
    if stat.S_ISLNK(entry.st_mode) or entry.st_uid != os.getuid():
        return False
    if entry.st_uid != OVERFLOW:
        return True
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NOATIME | os.O_NONBLOCK))
    except PermissionError:
        return False
    return True


look("owns_a_mount", any(is_mine(path) for path in visible()))
look("writable_by_mode", any(os.access(path, os.W_OK) for path in visible() if not os.path.islink(path)))
