"""Tries to make, change, link or move something in every visible foreign directory."""

# Outside, it must change only its own directory.
ROOT = "/" if given["inside"] else os.getcwd()
FILE = "/usr/lib/os-release" if given["inside"] else os.path.abspath("changed")
OWN = ("/rw/d", "/at/workspace", "/at/session", "/workspace", "/tmp", "/proc", "/k/proc", "/dev/shm")
NAME = "planted-by-a-probe"


def look():
    """All directories near the root, a sample of the deeper directories, and up to 20 files of each."""
    directories, files = [], []
    for top, below, names in os.walk(ROOT):
        if top in OWN:
            below[:] = []
            continue
        if top.count("/") > 4:
            del below[3:]
        directories.append(top)
        files += [path for path in (f"{top}/{name}" for name in names[:20]) if os.path.isfile(path) and not os.path.islink(path)]
    return directories, files


def everywhere(places, action):
    """Repeats the action in every place; a single success counts, otherwise the last error is raised."""

    def tried():
        refusal = None
        for place in places:
            try:
                action(place)
                print(f"succeeded at {place}")
                return
            except OSError as error:
                refusal = error
        raise refusal

    return tried


def make(directory):
    path = f"{directory}/{NAME}"
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    os.unlink(path)


def write(file):
    os.close(os.open(file, os.O_WRONLY))


def touch(file):
    status = os.stat(file)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def link_by_descriptor():
    held = os.open(FILE, os.O_RDONLY)
    source, target = f"/proc/self/fd/{held}".encode(), b"linked-by-descriptor"
    if libc.linkat(-100, source, -100, target, 0x400) != 0:
        raise OSError(ctypes.get_errno(), "refused")


def move_own(directory):
    os.rename("own", f"{directory}/{NAME}")
    os.rename(f"{directory}/{NAME}", "own")


if not given["inside"]:
    open(FILE, "wb").close()
directories, files = look()
open("own", "wb").close()
attempt("make", everywhere(directories, make))
attempt("make_link", everywhere(directories, lambda place: (os.symlink("/etc", f"{place}/{NAME}"), os.unlink(f"{place}/{NAME}"))))
attempt("write", everywhere(files, write))
attempt("touch", everywhere(files, touch))
attempt("change_mode", everywhere(files, lambda file: os.chmod(file, os.stat(file).st_mode & 0o7777)))
attempt("truncate", everywhere(files, lambda file: os.truncate(file, os.stat(file).st_size)))
attempt("move_own", everywhere(directories, move_own))
attempt("link", lambda: os.link(FILE, "linked"))
attempt("link_by_descriptor", link_by_descriptor)
attempt("exchange", lambda: (os.link(FILE, f"{FILE}-{NAME}"), os.unlink(f"{FILE}-{NAME}")))
