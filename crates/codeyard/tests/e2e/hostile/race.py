"""Changes everything below the session's directories as fast as it can, while the host reads and writes there."""

import os
import time

if os.uname().nodename != "sandbox":
    raise SystemExit("this replaces whatever it finds, so it runs in sessions only")

RENAMEAT2, CLONE_NEWUSER, CLONE_NEWNS, UNSHARE, MOUNT = 316, 0x10000000, 0x20000, 272, 165
HERE, EXCHANGE = -100, 2
TOP = os.path.dirname(os.path.join("/", os.readlink("/scratch")))
SCRATCH, RESULTS = "/scratch", "/results"
OUTSIDE = given["outside"]
END = time.monotonic() + given["seconds"]


def quietly(action, *arguments):
    """Concurrent operations of other processes or the host may interfere."""
    try:
        action(*arguments)
    except OSError:
        pass


def put(path, text="inside"):
    with open(path, "w") as file:
        file.write(text)


def exchange(one, two):
    call(RENAMEAT2, HERE, one.encode(), HERE, two.encode(), EXCHANGE)


def files():
    """A file turns into links, pipes and directories."""
    for target in OUTSIDE:
        quietly(put, f"{SCRATCH}/new")
        quietly(os.rename, f"{SCRATCH}/new", f"{SCRATCH}/x")
        quietly(os.symlink, target, f"{SCRATCH}/link")
        quietly(exchange, f"{SCRATCH}/link", f"{SCRATCH}/x")
        quietly(exchange, f"{SCRATCH}/link", f"{SCRATCH}/x")
        quietly(os.rename, f"{SCRATCH}/link", f"{SCRATCH}/x")
        quietly(os.mkfifo, f"{SCRATCH}/pipe")
        quietly(os.rename, f"{SCRATCH}/pipe", f"{SCRATCH}/x")
        quietly(os.link, "/proc/self/exe", f"{SCRATCH}/x2")
        quietly(put, f"{RESULTS}/y", "inside")
        quietly(os.link, f"{RESULTS}/y", f"{SCRATCH}/hard")
        quietly(os.rename, f"{SCRATCH}/hard", f"{SCRATCH}/x")
        quietly(os.unlink, f"{SCRATCH}/x")
        quietly(os.mkdir, f"{SCRATCH}/x")
        quietly(os.rmdir, f"{SCRATCH}/x")


def directories():
    """Directories turn into links, move up and down, and vanish while something is written below."""
    for target in OUTSIDE:
        quietly(os.makedirs, f"{SCRATCH}/d/e")
        quietly(put, f"{SCRATCH}/d/e/secret")
        quietly(os.symlink, target, f"{SCRATCH}/out")
        quietly(exchange, f"{SCRATCH}/out", f"{SCRATCH}/d")
        quietly(exchange, f"{SCRATCH}/out", f"{SCRATCH}/d")
        quietly(os.rename, f"{SCRATCH}/d/e", f"{SCRATCH}/moved")
        quietly(os.symlink, target, f"{SCRATCH}/d/e")
        quietly(os.rename, f"{SCRATCH}/moved", f"{RESULTS}/moved")
        quietly(os.unlink, f"{SCRATCH}/d/e")
        quietly(os.rename, f"{RESULTS}/moved", f"{SCRATCH}/d/e")
        for name in quietly_listed(f"{SCRATCH}/d/e"):
            quietly(os.unlink, f"{SCRATCH}/d/e/{name}")
        quietly(os.rmdir, f"{SCRATCH}/d/e")
        quietly(os.unlink, f"{SCRATCH}/out")


def temporary_names():
    """Removes the host's temporary files, or replaces them by links."""
    for place in (SCRATCH, f"{SCRATCH}/d/e"):
        for name in quietly_listed(place):
            if name.startswith(".codeyard-"):
                quietly(os.symlink, OUTSIDE[0], f"{place}/taken")
                quietly(os.rename, f"{place}/taken", f"{place}/{name}")


def quietly_listed(path):
    try:
        return os.listdir(path)
    except OSError:
        return []


def roots():
    """The directories of the session themselves turn into each other and into links."""
    for target in OUTSIDE:
        quietly(exchange, f"{TOP}/scratch", f"{TOP}/results")
        quietly(os.symlink, target, f"{TOP}/link")
        quietly(exchange, f"{TOP}/link", f"{TOP}/scratch")
        quietly(exchange, f"{TOP}/link", f"{TOP}/scratch")
        quietly(os.unlink, f"{TOP}/link")
        time.sleep(0.001)


def mounts():
    """Mounts something over the directories; no session can."""
    quietly(call, UNSHARE, CLONE_NEWUSER | CLONE_NEWNS)
    quietly(call, MOUNT, b"/etc", SCRATCH.encode(), b"", 4096, 0)
    quietly(call, MOUNT, b"tmpfs", f"{SCRATCH}/d".encode(), b"tmpfs", 0, 0)
    time.sleep(0.001)


def repeat(action):
    rounds = 0
    while time.monotonic() < END:
        action()
        rounds += 1
    return rounds


actions = [files, directories, temporary_names, mounts] + ([roots] if given["roots"] else [])
children = []
for action in actions:
    child = os.fork()
    if child == 0:
        os._exit(0 if repeat(action) > 1 else 1)
    children.append(child)
ended = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
say("raced", "allowed" if not any(ended) else ended)
