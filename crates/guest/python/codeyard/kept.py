"""Results that stay in the session: too large for a model, or not all of it text. Programs get them back by name."""

import sys
from itertools import islice

# The newest are kept: so many, and so many bytes in all; the newest of all however large it is.
MOST = 16
MOST_BYTES = 128 * 1024 * 1024

_REMEMBERED = 1_000
_WEIGHED = 100
_DEEPEST = 3


class Kept:
    """The results that one session keeps."""

    def __init__(self):
        self._entries = {}
        self._lost = {}

    def keep(self, name, value, kind, size):
        """Keeps a value under a name that is new; older ones may have to go."""
        self._entries[name] = (value, kind, size, _weight(value, 0))
        total = sum(entry[3] for entry in self._entries.values())
        while len(self._entries) > MOST or (total > MOST_BYTES and len(self._entries) > 1):
            oldest = next(iter(self._entries))
            total -= self._entries[oldest][3]
            self._lose(oldest, f"newer ones have taken its place: {MOST} are kept, of {MOST_BYTES >> 20} MiB in all")

    def clear(self, why):
        """Gives up all of them."""
        for name in list(self._entries):
            self._lose(name, why)

    def get(self, name=None):
        """The value of that name, or the newest."""
        if name is None and self._entries:
            name = next(reversed(self._entries))
        if name in self._entries:
            return self._entries[name][0]
        there = f"kept are {', '.join(self._entries)}" if self._entries else "none is kept now"
        if name is None:
            raise LookupError("no result is kept: only those that were too large to show are, in the session of their run")
        if name in self._lost:
            raise LookupError(f"result {name!r} is lost: {self._lost[name]}; run its program again ({there})")
        raise LookupError(f"there is no result {name!r:.40}; {there}")

    def listing(self):
        """Those that there are, the oldest first."""
        return [{"name": name, "type": kind, "size": size} for name, (_, kind, size, _) in self._entries.items()]

    def _lose(self, name, why):
        del self._entries[name]
        self._lost[name] = why
        if len(self._lost) > _REMEMBERED:
            del self._lost[next(iter(self._lost))]


def _weight(value, depth):
    """About how many bytes a value takes: of large containers some items stand for all."""
    try:
        return _table(value) or sys.getsizeof(value) + _inside(value, depth)
    except Exception:
        return 0  # It cannot be told; the number of results is bounded all the same.


def _table(value):
    usage = getattr(type(value), "memory_usage", None)
    if usage is not None:
        used = usage(value)
        return int(used.sum() if hasattr(used, "sum") else used)
    if hasattr(type(value), "nbytes"):
        return int(value.nbytes)
    return 0


def _inside(value, depth):
    if depth >= _DEEPEST or not isinstance(value, (dict, list, tuple, set, frozenset)) or not value:
        return 0
    items = value.values() if isinstance(value, dict) else value
    looked = [_weight(item, depth + 1) for item in islice(iter(items), _WEIGHED)]
    return sum(looked) * len(value) // max(1, len(looked))


_current = None


def connect(kept):
    """Makes these the ones that programs ask for; `None` for none."""
    global _current
    _current = kept


def current():
    """Those of this process's session."""
    return _current if _current is not None else Kept()
