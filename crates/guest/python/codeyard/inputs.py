"""Clock and randomness of recorded runs: what a program reads is listed, and a repeated run reads it from the list.

Nothing is replaced before the first recorded run of a session. Bytes for secrets come from the kernel, except in a
repeated run, whose secrets are those of the recording. Fast clocks (`monotonic`) are not listed: waiting needs them.
"""

import base64
import ctypes
import datetime
import gc
import os
import random
import sys
import time
import uuid
import warnings

# Most times of each clock, and most random bytes, that are listed for a run.
_MOST_TIMES = 4_000
_MOST_BYTES = 32 * 1024
_SECOND = 1_000_000_000

_wall_clock, _fine_clock, _draw = time.time_ns, time.perf_counter_ns, os.urandom
_localtime, _gmtime, _strftime, _uuid1 = time.localtime, time.gmtime, time.strftime, uuid.uuid1
_ctime, _asctime, _seed = time.ctime, time.asctime, random.Random.seed


class _Clock:
    """One clock, in nanoseconds. After the end of its list, it runs on from the last time."""

    def __init__(self, read):
        self._read = read
        self.begin((), None)

    def begin(self, times, start):
        self.listed = []
        self._shift = 0
        self._times = iter(times)
        if start is not None:
            self._shift = start - self._read()

    def now(self):
        read = self._read()
        listed = next(self._times, None)
        if listed is not None:
            self._shift = listed - read
        now = read + self._shift
        if len(self.listed) < _MOST_TIMES:
            self.listed.append(now)
        return now


class _RandomBytes:
    """Random bytes of the kernel. A repeated run gets those of its list first."""

    def __init__(self):
        self.begin(b"")

    def begin(self, drawn):
        self.listed = bytearray()
        self._left = memoryview(drawn)

    def draw(self, count):
        if count and count <= len(self._left):
            drawn, self._left = bytes(self._left[:count]), self._left[count:]
        else:
            drawn = _draw(count)
        self.note(drawn)
        return drawn

    def note(self, drawn):
        if len(self.listed) + len(drawn) <= _MOST_BYTES:
            self.listed += drawn

    def has(self, count):
        return count <= len(self._left)


_wall = _Clock(_wall_clock)
_fine = _Clock(_fine_clock)
_bytes = _RandomBytes()
_is_installed = False


def begin(inputs):
    """Begins a run. `inputs` is the host's: absent unless the run is recorded or repeated."""
    if inputs is None:
        return
    if not _is_installed:
        _install()
        _reseed(inputs["seed"])
    reads = inputs.get("reads")
    start = None if reads is None else inputs["clock"] * 1_000_000
    wall, fine, drawn = _lists(reads or {})
    _wall.begin(wall, start)
    _fine.begin(fine, None)
    _bytes.begin(drawn)


def _lists(reads):
    """The times of both clocks, and the bytes. A list that a program has spoiled in its own guest answers nothing."""
    try:
        wall, fine = ([int(time) for time in reads.get(name, ())] for name in ("wall", "fine"))
        return wall, fine, base64.b64decode(reads.get("bytes", ""))
    except (AttributeError, TypeError, ValueError):
        return [], [], b""


def listed():
    """What the run has read, for the recording."""
    lists = {"wall": _wall.listed, "fine": _fine.listed}
    reads = {name: times for name, times in lists.items() if times}
    if _bytes.listed:
        reads["bytes"] = base64.b64encode(_bytes.listed).decode()
    return reads


def _reseed(seed):
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed & 0xFFFFFFFF)


def _install():
    global _is_installed
    _is_installed = True
    for function in (_time, _time_ns, _perf_counter, _perf_counter_ns, _at_local, _at_utc, _as_ctime, _as_asctime, _as_text):
        name = function.__name__ = function.__qualname__ = _NAMES[function]
        function.__module__ = "time"
        setattr(time, name, function)
    os.urandom = random._urandom = _urandom
    random.Random.seed = _seed_of
    random.seed = random._inst.seed
    uuid.uuid1 = _uuid1_of
    _replace_methods(datetime.datetime, {"now": classmethod(_now), "utcnow": classmethod(_utcnow)})


def _replace_methods(kind, methods):
    """Replaces methods of a class of the interpreter, so that the class stays the same for `type` and `isinstance`."""
    gc.get_referents(kind.__dict__)[0].update(methods)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def _time():
    return _wall.now() / _SECOND


def _time_ns():
    return _wall.now()


def _perf_counter():
    return _fine.now() / _SECOND


def _perf_counter_ns():
    return _fine.now()


def _at_local(seconds=None):
    return _localtime(_time() if seconds is None else seconds)


def _at_utc(seconds=None):
    return _gmtime(_time() if seconds is None else seconds)


def _as_ctime(seconds=None):
    return _ctime(_time() if seconds is None else seconds)


def _as_asctime(*given):
    return _asctime(*(given or (_at_local(),)))


def _as_text(form, *given):
    return _strftime(form, *(given or (_at_local(),)))


_NAMES = {
    _time: "time",
    _time_ns: "time_ns",
    _perf_counter: "perf_counter",
    _perf_counter_ns: "perf_counter_ns",
    _at_local: "localtime",
    _at_utc: "gmtime",
    _as_ctime: "ctime",
    _as_asctime: "asctime",
    _as_text: "strftime",
}


def _now(kind, tz=None):
    return _moment(kind, tz)


def _utcnow(kind):
    if sys.version_info >= (3, 12):
        message = (
            "datetime.datetime.utcnow() is deprecated and scheduled for removal in a future version. Use "
            "timezone-aware objects to represent datetimes in UTC: datetime.datetime.now(datetime.UTC)."
        )
        warnings.warn(message, DeprecationWarning, stacklevel=2)
    return _moment(kind, datetime.timezone.utc).replace(tzinfo=None)


def _moment(kind, zone):
    seconds, rest = divmod(_wall.now(), _SECOND)
    return kind.fromtimestamp(seconds, zone).replace(microsecond=rest // 1_000)


def _urandom(size, /):
    return _bytes.draw(size) if isinstance(size, int) and size >= 0 else _draw(size)


def _seed_of(self, a=None, version=2):
    """`None` draws from the kernel inside of the interpreter, where it could not be listed."""
    _seed(self, int.from_bytes(_bytes.draw(32), "little") if a is None else a, version)


def _uuid1_of(node=None, clock_seq=None):
    if node is not None or clock_seq is not None or uuid._generate_time_safe is None:
        return _uuid1(node, clock_seq)
    if _bytes.has(16):
        return uuid.UUID(bytes=_bytes.draw(16))
    made = _uuid1()
    _bytes.note(made.bytes)
    return made
