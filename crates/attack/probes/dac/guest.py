"""Looks at the owner and mode of every mount point that is not its own, and what lies directly below."""

import stat

OWN = ("/rw/d", "/at/workspace", "/at/results", "/k/proc", "/dev")


def places():
    """Mount points that are not the session's own; outside its own directory, which it does own."""
    if not given["inside"]:
        return [os.getcwd()]
    with open("/proc/self/mountinfo") as lines:
        points = [line.split()[4] for line in lines]
    return [point for point in points if not point.startswith(OWN)]


def visible():
    """Each place and what lies in it."""
    for place in places():
        yield place
        if os.path.isdir(place):
            yield from (os.path.join(place, name) for name in sorted(os.listdir(place))[:200])


found = [os.lstat(path) for path in visible()]
mine = [entry for entry in found if entry.st_uid == os.getuid() and not stat.S_ISLNK(entry.st_mode)]
look("owns_a_mount", bool(mine))
look("writable_by_mode", any(os.access(path, os.W_OK) for path in visible() if not os.path.islink(path)))
