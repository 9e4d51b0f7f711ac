"""The zygote: an interpreter with everything loaded and warm, from which each session is cloned.

It runs inside the template, receives only descriptors and numbers, and never runs a line of a user's.
Descriptor 3 is the socket to the host, 4 the session library; 0 to 2 are the null device.
"""

import builtins
import ctypes
import gc
import importlib
import json
import os
import random
import signal
import sys

CONTROL = 3
LIBRARY = 4
FILTERS = "/opt/codeyard/filters/"
GUEST = "/opt/codeyard"

# Access classes of the library's Landlock rules, and where they hold. Mounts that come later lie below
# these directories: a rule on a directory that is covered by a mount would not hold.
READ, EXECUTE, DEVICE, OWN, ATTACHED, LIST, OWN_EXECUTABLE = range(7)
RULES = [
    ("/", LIST),
    ("/usr", EXECUTE),
    ("/bin", EXECUTE),
    ("/lib", EXECUTE),
    ("/lib64", EXECUTE),
    ("/opt", EXECUTE),
    ("/etc", READ),
    ("/k", READ),
    ("/dev", DEVICE),
    ("/rw", OWN),
    ("/at", ATTACHED),
]

# Flag of a request: the interpreter's own after-fork hooks run in the child.
PYTHON_HOOKS = 4

# What programs import most, so that no session pays for it.
COMMON = (
    "asyncio base64 bisect calendar collections concurrent.futures contextlib copy csv dataclasses datetime decimal "
    "difflib enum fractions functools glob hashlib heapq html inspect io itertools json logging math numbers "
    "operator os pathlib pickle pprint random re shutil signal statistics string struct subprocess tempfile "
    "textwrap threading time traceback types typing unicodedata urllib.parse uuid zlib"
).split()

# A data session's first steps, run once here so that lazily built parts of the libraries are there.
DATA_WARMUP = (
    "import io, numpy as np, pandas as pd\n"
    "frame = pd.DataFrame({'k': ['a', 'b', 'a'], 'v': [1, 2, 3], 'w': [0.5, 1.5, 2.5]})\n"
    "frame[frame['v'] > 1].merge(frame, on='k').groupby('k')['v_x'].sum().sort_values()\n"
    "pd.read_csv(io.StringIO('a,b\\n1,2\\n')).describe().to_dict()\n"
    "repr(frame), np.arange(4).reshape(2, 2) @ np.ones((2, 2))\n"
)


class ZygoteError(Exception):
    """A step of the zygote's start failed."""


def main():
    """Starts, serves, and in each clone becomes a session."""
    settings = json.loads(sys.argv[1])
    library = load_library()
    share_heap()
    tid = tid_address()
    sys.path.insert(0, GUEST)
    sys.path.extend(settings["site"])
    importlib.import_module("codeyard.places").install()
    loaded = load(settings["profile"])
    runner = importlib.import_module("codeyard.runner")
    runner.warm()
    reseed = Reseed()
    ruleset = make_ruleset(library, settings["exec"])
    with open(FILTERS + "zygote.bpf", "rb") as file:
        base = file.read()
    with open(FILTERS + "session.bpf", "rb") as file:
        session = file.read()
    check(library.codeyard_confine_zygote(base, len(base) // 8), "confine the zygote")
    inspect_self()
    sys.argv[:] = [""]
    gc.collect()
    gc.disable()
    gc.freeze()
    # A session can be interrupted from its first moment; until it has a handler that means nothing.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    greet(loaded, tid)
    flags = library.codeyard_serve(CONTROL, ruleset, session, len(session) // 8, tid)
    if flags < 0:
        os._exit(0)
    try:
        if flags & PYTHON_HOOKS:
            ctypes.pythonapi.PyOS_AfterFork_Child()
        reseed()
        gc.enable()
        runner.serve(CONTROL)
    finally:
        # Whatever went wrong in a session, it does not speak in the zygote's name.
        os._exit(1)


def load_library():
    """The session library. PyDLL keeps the interpreter's lock: nothing else may run between clone and session."""
    library = ctypes.PyDLL(f"/proc/self/fd/{LIBRARY}")
    library.codeyard_ruleset.restype = ctypes.c_int64
    library.codeyard_allow.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32]
    library.codeyard_allow.restype = ctypes.c_int64
    library.codeyard_confine_zygote.argtypes = [ctypes.c_char_p, ctypes.c_uint16]
    library.codeyard_confine_zygote.restype = ctypes.c_int64
    library.codeyard_serve.argtypes = [
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_uint16,
        ctypes.c_void_p,
    ]
    library.codeyard_serve.restype = ctypes.c_int64
    return library


def share_heap():
    """One heap for all threads: each would reserve 64 MiB of addresses for its own, and the memory limit, which
    counts addresses, would hold a dozen threads. The interpreter's lock lets few of them allocate at once anyway."""
    m_arena_max = -8
    ctypes.CDLL(None).mallopt(m_arena_max, 1)


def tid_address():
    """Where the C library keeps this thread's id, so that a clone can have its own put there; `None` if unknown."""
    get_tid_address = 40
    address = ctypes.c_void_p()
    libc = ctypes.CDLL(None)
    if libc.prctl(get_tid_address, ctypes.byref(address), 0, 0, 0) != 0 or not address.value:
        return None
    import threading

    held = ctypes.c_int.from_address(address.value).value
    return address.value if held == threading.get_native_id() else None


def load(profile):
    """Imports what the profile promises; returns the names of its libraries with their versions."""
    for name in COMMON:
        importlib.import_module(name)
    # What `site` would add, without its closing of standard input.
    builtins.exit = builtins.quit = sys.exit
    if profile != "data":
        return {}
    versions = {name: importlib.import_module(name).__version__ for name in ("numpy", "pandas")}
    exec(compile(DATA_WARMUP, "<warm-up>", "exec"), {})
    return versions


class Reseed:
    """Gives a clone its own randomness; everything it needs is looked up beforehand."""

    def __init__(self):
        self.state = None
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            generator = numpy.random.mtrand._rand._bit_generator
            self.state = generator.ctypes.state_address
        tempfile = sys.modules["tempfile"]
        # Drawn anew by the first use in each session.
        tempfile._name_sequence = None

    def __call__(self):
        random.seed()
        if self.state is not None:
            # The Mersenne Twister's 624 words, and the position that says all are used.
            words = 624
            ctypes.memmove(self.state, os.urandom(4 * words), 4 * words)
            ctypes.c_int.from_address(self.state + 4 * words).value = words


def make_ruleset(library, executable):
    """Builds the Landlock ruleset that every session enforces on itself; `executable`: its own files may be executed."""
    ruleset = check(library.codeyard_ruleset(), "make the Landlock ruleset")
    for path, access in RULES:
        if access == OWN and executable:
            access = OWN_EXECUTABLE
        if os.path.exists(path):
            check(library.codeyard_allow(ruleset, path.encode(), access), f"allow {path}")
    return ruleset


def check(result, step):
    """The result of a library call, or an error that names the step."""
    if result < 0:
        raise ZygoteError(f"{step}: {os.strerror(-result)}")
    return result


def inspect_self():
    """Refuses to serve from a process that is not fit to be cloned."""
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        raise ZygoteError(f"{threads} threads after loading; a clone would have one of them")
    with open("/proc/self/maps") as maps:
        shared = [line.split()[-1] for line in maps if line.split()[1].startswith("rw") and line.split()[1].endswith("s")]
    if shared:
        raise ZygoteError(f"memory that is writable and shared: {shared}")


def greet(loaded, tid):
    """Tells the host that sessions can be asked for."""
    with open("/proc/self/statm") as statm:
        pages = int(statm.read().split()[0])
    send(
        {
            "python": ".".join(map(str, sys.version_info[:3])),
            "address_space": pages * os.sysconf("SC_PAGESIZE"),
            "loaded": loaded,
            "tid": tid is not None,
        }
    )


def send(greeting):
    """Sends one message to the host."""
    os.write(CONTROL, json.dumps(greeting).encode())


if __name__ == "__main__":
    try:
        main()
    except BaseException as error:
        send({"error": f"{type(error).__name__}: {error}"})
        os._exit(1)
