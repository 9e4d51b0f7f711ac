"""Describes an uncaught exception for the host: kind, one line, the program's own lines, the limit behind it."""

import errno
import mmap
import os
import sys
from linecache import getline
from traceback import TracebackException
from types import TracebackType

from codeyard import hints, places
from codeyard.files import is_tool_file
from codeyard.errors import ToolError, UnawaitedCall
from codeyard.program import filename_of, is_program, is_saved, number_of

MAX_MESSAGE = 2_000
_MAX_FRAMES = 40
# These files never count as the program's own code.
_PACKAGE = os.path.dirname(__file__)
_MAX_TRACEBACK = 20_000
_RESERVE = 8 * 1024 * 1024

_LIMIT_OF_ERRNO = {
    errno.EDQUOT: "workspace",
    errno.EMFILE: "open_files",
    errno.ENFILE: "open_files",
    errno.EFBIG: "file_size",
    errno.ENOMEM: "memory",
}


class Reserve:
    """Address space reserved for reporting that memory ran out. Untouched, it costs no memory."""

    def __init__(self):
        self._map = None

    def renew(self):
        """Reserves the space, unless reserved already."""
        if self._map is None:
            try:
                self._map = mmap.mmap(-1, _RESERVE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            except (OSError, MemoryError):
                pass

    def release(self):
        """Frees the space."""
        if self._map is not None:
            self._map.close()
            self._map = None


def describe(error, number, spawned, source=""):
    """The `error` of a `done` frame. `number` is the run's; `spawned` tells whether its program started processes."""
    if isinstance(error, SystemExit):
        return {"kind": "SystemExit", "message": _exit_message(error), "traceback": ""}
    try:
        described = {"kind": type(error).__name__, "message": _message(error), "traceback": _traceback(error, number)}
    except (MemoryError, RecursionError):
        error.__traceback__ = None  # Frees what its frames hold.
        described = {"kind": type(error).__name__, "message": "no memory was left to say more", "traceback": ""}
    limit = _limit_of(error, spawned)
    if limit is not None:
        described["limit"] = limit
    hint = places.hint(error.filename) if isinstance(error, OSError) else None
    for hint in (hint or hints.of(error, source), hints.of_answer(error)):
        if hint is not None:
            described["message"] += f" ({hint})"
    return described


def unawaited(calls):
    """The exception for calls never awaited, placed at the first call."""
    call = calls[0]
    more = f" (and {len(calls) - 1} more)" if len(calls) > 1 else ""
    message = f"{call.label}(...) on line {call.line} was never awaited{more}; write `await {call.label}(...)`"
    return UnawaitedCall(message, call.filename, call.line)


def waiting_place(task):
    """The traceback through everything that a waiting task awaits; `None` if it has not begun."""
    frames = []
    step = task.get_coro()
    while step is not None:
        frame = getattr(step, "cr_frame", None) or getattr(step, "gi_frame", None)
        if frame is None or frame.f_lasti < 0:
            break
        frames.append(frame)
        step = getattr(step, "cr_await", None) or getattr(step, "gi_yieldfrom", None)
    place = None
    for frame in reversed(frames):
        place = TracebackType(place, frame, frame.f_lasti, frame.f_lineno)
    return place


def exit_status(error):
    """The exit status of a process that ends with this exception."""
    code = error.code
    return 0 if code is None else code & 0xFF if isinstance(code, int) else 1


def _exit_message(error):
    text = "" if isinstance(error.code, int) else f": {one_line(str(error.code))}"
    return f"exit status {exit_status(error)}{text}"


def one_line(text):
    """The text on one line, at most MAX_MESSAGE characters."""
    text = " ".join(text[: 4 * MAX_MESSAGE].split())
    return text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]}…"


def _message(error):
    if isinstance(error, SyntaxError):
        return one_line(f"{error.msg} (line {error.lineno})" if error.lineno else str(error.msg))
    if isinstance(error, KeyboardInterrupt) and not error.args:
        return "the run was interrupted"
    if isinstance(error, MemoryError) and not error.args:
        return "out of memory"
    try:
        return one_line(str(error))
    except (MemoryError, RecursionError):
        raise
    except Exception as second:
        return f"<its text could not be made: {type(second).__name__}>"


def _traceback(error, number):
    if isinstance(error, UnawaitedCall):
        line = getline(error.filename, error.line).strip()
        place = f'  File "{_shown(error.filename, number)}", line {error.line}\n    {line}\n'
        return f"{place}{type(error).__name__}: {error}\n"
    shown = TracebackException(type(error), error, error.__traceback__, lookup_lines=False, compact=True)
    _keep_own_frames(shown, number)
    alone = not shown.stack and shown.__cause__ is None and shown.__context__ is None
    text = "".join(shown.format_exception_only() if alone else shown.format())
    if len(text) > _MAX_TRACEBACK:
        half = _MAX_TRACEBACK // 2
        text = f"{text[:half]}\n… ({len(text) - 2 * half} characters left out) …\n{text[-half:]}"
    return text


def _keep_own_frames(shown, number):
    waiting = [shown]
    while waiting:
        part = waiting.pop()
        own = [frame for frame in part.stack if _is_own(frame.filename)]
        if len(own) > _MAX_FRAMES:
            own[_MAX_FRAMES // 2 : -_MAX_FRAMES // 2] = []
        for frame in own:
            _ = frame.line  # Read the line now, by the source's registered name.
            frame.filename = _shown(frame.filename, number)
        part.stack[:] = own
        if isinstance(getattr(part, "filename", None), str):  # a SyntaxError
            part.filename = _shown(part.filename, number)
        waiting.extend(filter(None, (part.__cause__, part.__context__)))
        waiting.extend(getattr(part, "exceptions", None) or ())


def _is_own(filename):
    if is_program(filename) or is_saved(filename) or is_tool_file(filename):
        return True
    return filename.startswith(places.OWN) and not filename.startswith(_PACKAGE)


def _shown(filename, number):
    if not is_program(filename):
        return filename
    return "<program>" if filename == filename_of(number) else f"<program of run {number_of(filename)}>"


def _limit_of(error, spawned):
    """The limit behind the kernel's refusal."""
    if isinstance(error, MemoryError):
        return "memory"
    if isinstance(error, ToolError):
        return "host_calls" if error.kind == "limit" else None
    if isinstance(error, OSError):
        if error.errno == errno.ENOSPC:
            return _full(error)
        if error.errno == errno.EAGAIN and spawned:
            return "processes"
        return _LIMIT_OF_ERRNO.get(error.errno)
    if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
        return "processes"
    for inner in getattr(error, "exceptions", ()) if sys.version_info >= (3, 11) else ():
        limit = _limit_of(inner, spawned)
        if limit is not None:
            return limit
    return None


def _full(error):
    """The full file system of the session: its own, or that of its stored files."""
    try:
        own = os.statvfs(places.OWN_PLACE)
    except OSError:
        return "disk"
    if own.f_files and not own.f_ffree:
        return "inodes"
    if places.SCRATCH == places.WORKSPACE or not os.path.isdir(places.SCRATCH):
        return "disk"  # The session has no stored files.
    kept = str(error.filename or os.getcwd()).startswith((places.WORKSPACE, places.RESULTS, places.SCRATCH, "/at/"))
    return "workspace" if kept and own.f_bavail else "disk"
