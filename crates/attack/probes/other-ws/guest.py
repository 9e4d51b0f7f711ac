"""Looks for B's file by its path, by climbing out of A's workspace, and through B's process."""


def any_of(paths):
    """Opens the first path that it can; raises the last error if no path opens."""
    last = OSError(errno.ENOENT, "none")
    for path in paths:
        try:
            return os.close(os.open(path, os.O_RDONLY))
        except (FileNotFoundError, PermissionError) as error:
            last = error
    raise last


def climbing():
    """Climbs above the root with `../`, then down to B's directory (control only) and to B's workspace on the host."""
    above = "../" * 40
    below = given["before"]["directory"].lstrip("/") + "/of-b"
    hosts = [given["host"]["workspaces"].lstrip("/") + f"/{given['neighbour']}/workspace/of-b"]
    return [above + path for path in ([] if given["inside"] else [below]) + hosts]


def own_directory():
    """The file in B's directory, by the path that B sees and by its path on the host.

    In the sandbox the first is A's own directory, which lacks the file.
    """
    return [given["before"]["directory"] + "/of-b", given["host"]["workspaces"] + f"/{given['neighbour']}/workspace/of-b"]


def processes():
    """The file in the working directory of other processes: inside, of each visible process; in the control, of B's."""
    if given["inside"]:
        numbers = [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    else:
        numbers = [given["before"]["process"]]
    return [f"/proc/{number}/cwd/of-b" for number in numbers]


attempt("by_path", lambda: any_of(own_directory()))
attempt("by_climbing", lambda: any_of(climbing()))
attempt("by_process", lambda: any_of(processes()))
