"""The zygote: an interpreter with everything loaded and warm, from which sessions are cloned.

It runs inside the template, receives only descriptors and numbers, and never runs user code.
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

# Access classes of the library's Landlock rules, and their directories. Later mounts lie below
# these directories: a rule on a directory covered by a mount would not hold.
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

# Request flag: the child runs the interpreter's after-fork hooks.
PYTHON_HOOKS = 4

# The most frequent imports, so that no session pays for them.
COMMON = (
    "asyncio base64 bisect calendar collections concurrent.futures contextlib copy csv dataclasses datetime decimal "
    "difflib enum fractions functools glob hashlib heapq html inspect io itertools json logging math numbers "
    "operator os pathlib pickle pprint random re shutil signal statistics string struct subprocess tempfile "
    "textwrap threading time traceback types typing unicodedata urllib.parse uuid zlib"
).split()

# A data session's first steps, run once so that the libraries' lazy parts exist.
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
    # A session can be interrupted from its first moment; until it has a handler, interrupts are ignored.
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
        # Whatever fails in a session, it does not speak for the zygote.
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
    """One heap for all threads: each would reserve 64 MiB of addresses of its own, and the memory
    limit, which counts addresses, would hold a dozen threads. The interpreter's lock lets few
    threads allocate at once anyway."""
    m_arena_max = -8
    ctypes.CDLL(None).mallopt(m_arena_max, 1)


def tid_address():
    """Where the C library stores this thread's id, so that a clone can receive its own; `None` if unknown."""
    get_tid_address = 40
    address = ctypes.c_void_p()
    libc = ctypes.CDLL(None)
    if libc.prctl(get_tid_address, ctypes.byref(address), 0, 0, 0) != 0 or not address.value:
        return None
    import threading

    held = ctypes.c_int.from_address(address.value).value
    return address.value if held == threading.get_native_id() else None


def load(profile):
    """Imports what the profile promises; returns its libraries' names with versions."""
    for name in COMMON:
        importlib.import_module(name)
    # What `site` adds, except that standard input stays open.
    builtins.exit = builtins.quit = sys.exit
    if profile != "data":
        return {}
    versions = {name: importlib.import_module(name).__version__ for name in ("numpy", "pandas")}
    exec(compile(DATA_WARMUP, "<warm-up>", "exec"), {})
    return versions


class Reseed:
    """Gives a clone its own randomness; everything needed is looked up in advance."""

    def __init__(self):
        self.state = None
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            generator = numpy.random.mtrand._rand._bit_generator
            self.state = generator.ctypes.state_address
        tempfile = sys.modules["tempfile"]
        # The first use in each session draws anew.
        tempfile._name_sequence = None

    def __call__(self):
        random.seed()
        if self.state is not None:
            # The Mersenne Twister's 624 words, and the position after the last of them.
            words = 624
            ctypes.memmove(self.state, os.urandom(4 * words), 4 * words)
            ctypes.c_int.from_address(self.state + 4 * words).value = words


def make_ruleset(library, executable):
    """Builds the Landlock ruleset of every session; `executable` allows it to execute its own files."""
    ruleset = check(library.codeyard_ruleset(), "make the Landlock ruleset")
    for path, access in RULES:
        if access == OWN and executable:
            access = OWN_EXECUTABLE
        if os.path.exists(path):
            check(library.codeyard_allow(ruleset, path.encode(), access), f"allow {path}")
    return ruleset


def check(result, step):
    """The result of a library call; raises an error that names the step."""
    if result < 0:
        raise ZygoteError(f"{step}: {os.strerror(-result)}")
    return result


def inspect_self():
    """Refuses to serve from a process that cannot be cloned safely."""
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        raise ZygoteError(f"{threads} threads after loading; a clone would have one of them")
    with open("/proc/self/maps") as maps:
        shared = [line.split()[-1] for line in maps if line.split()[1].startswith("rw") and line.split()[1].endswith("s")]
    if shared:
        raise ZygoteError(f"memory that is writable and shared: {shared}")


def greet(loaded, tid):
    """Tells the host that it can request sessions."""
    with open("/proc/self/statm") as statm:
        pages = int(statm.read().split()[0])
    send(
        {
            "interpreter": "CPython " + ".".join(map(str, sys.version_info[:3])),
            "address_space": pages * os.sysconf("SC_PAGESIZE"),
            "loaded": loaded,
            "tid": tid is not None,
        }
    )


def send(greeting):
    os.write(CONTROL, json.dumps(greeting).encode())


if __name__ == "__main__":
    try:
        main()
    except BaseException as error:
        send({"error": f"{type(error).__name__}: {error}"})
        os._exit(1)
