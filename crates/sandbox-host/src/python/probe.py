"""Describes this Python as one line of JSON.

It runs in the candidate itself (`python -I -S -c`), so it must also parse in versions that Codeyard then refuses.
"""
import json
import os
import sys
import sysconfig


def libc():
    """The C library's name and version; musl has no `CS_GNU_LIBC_VERSION`."""
    try:
        name = os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, OSError, ValueError):
        name = None
    if name:
        return name
    return "musl" if any("ld-musl" in path for path in mapped()) else "unknown"


def mapped():
    """The files that this process has mapped, first come first."""
    seen = []
    try:
        with open("/proc/self/maps") as maps:
            for line in maps:
                path = line.rstrip("\n").partition("/")[2]
                if path and "/" + path not in seen:
                    seen.append("/" + path)
    except OSError:
        pass
    return seen


def libpython():
    """The interpreter's shared library, if the interpreter is not in the executable."""
    for path in mapped():
        if os.path.basename(path).startswith("libpython") and ".so" in path:
            return path
    return None


def importable(name):
    try:
        __import__(name)
    except Exception:
        return False
    return True


def dynload():
    """The directory of the standard library's compiled modules."""
    for path in sys.path:
        if os.path.basename(path) == "lib-dynload" and os.path.isdir(path):
            return os.path.realpath(path)
    return None


def pip():
    """The pip bundled with `ensurepip`, as a file that Python can run."""
    try:
        import ensurepip
    except ImportError:
        return None
    places = [getattr(ensurepip, "_WHEEL_PKG_DIR", None), os.path.join(os.path.dirname(ensurepip.__file__), "_bundled")]
    for place in places:
        if place and os.path.isdir(place):
            for name in sorted(os.listdir(place), reverse=True):
                if name.startswith("pip-") and name.endswith(".whl"):
                    return os.path.join(place, name)
    return None


executable = getattr(sys, "_base_executable", None) or sys.executable
json.dump(
    {
        "version": list(sys.version_info[:3]),
        "implementation": sys.implementation.name,
        "bits": 64 if sys.maxsize > 2**32 else 32,
        "executable": os.path.realpath(executable),
        "base_prefix": os.path.realpath(sys.base_prefix),
        "base_exec_prefix": os.path.realpath(sys.base_exec_prefix),
        "stdlib": os.path.realpath(sysconfig.get_path("stdlib")),
        "platlibdir": getattr(sys, "platlibdir", "lib"),
        "dynload": dynload(),
        "libpython": libpython(),
        "libc": libc(),
        "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        "has_ctypes": importable("ctypes"),
        "pip": pip() if importable("venv") else None,
    },
    sys.stdout,
)
