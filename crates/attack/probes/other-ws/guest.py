"""Looks for the file that B wrote: by its path on the host, by climbing out of its own workspace, through B's process."""


def any_of(paths):
    """Raises ENOENT if none of the paths can be opened."""
    for path in paths:
        try:
            return os.close(os.open(path, os.O_RDONLY))
        except FileNotFoundError:
            pass
    raise OSError(errno.ENOENT, "none")


def climbing():
    """Up beyond the depth of any path, then down to the host's workspaces."""
    above = "../" * 40
    below = given["before"]["directory"].lstrip("/") + "/of-b"
    hosts = [given["host"]["workspaces"].lstrip("/") + f"/{given['neighbour']}/workspace/of-b"]
    return [above + path for path in ([] if given["inside"] else [below]) + hosts]


def own_directory():
    """B's path; inside, it is A's own directory of that name, which lacks the file."""
    return [given["before"]["directory"] + "/of-b", given["host"]["workspaces"] + f"/{given['neighbour']}/workspace/of-b"]


def processes():
    """B's root by its process number; outside, B is a process of the same user."""
    if given["inside"]:
        numbers = [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    else:
        numbers = [given["before"]["process"]]
    return [f"/proc/{number}/cwd/of-b" for number in numbers]


attempt("by_path", lambda: any_of(own_directory()))
attempt("by_climbing", lambda: any_of(climbing()))
attempt("by_process", lambda: any_of(processes()))
