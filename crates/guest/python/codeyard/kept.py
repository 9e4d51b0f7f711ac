"""Results that stay in the session: too large for a model, or partly binary. Programs get them back by name."""

import sys
from collections import Counter, deque
from itertools import islice

# The newest results stay: MOST that a model was told of, MOST others, and in all as many bytes as
# the host allows; the very newest stays whatever its size.
MOST = 16

_REMEMBERED = 1_000
# Most values examined to weigh a result, and the most levels.
_LOOKS = 5_000
_DEEPEST = 20


class Kept:
    """The kept results of one session."""

    def __init__(self):
        self.most_bytes = 0
        self._entries = {}
        self._lost = {}

    def keep(self, name, value, kind, size, is_told=True):
        """Keeps a value under a new name; older ones may be dropped. The model sees the names of some results only."""
        self._entries[name] = (value, kind, size, _weight(value, _LOOKS, 0), is_told)
        replaced = f"newer ones have taken its place: {MOST} are kept, of {self.most_bytes >> 20} MiB in all"
        same = [name for name, entry in self._entries.items() if entry[4] == is_told]
        if len(same) > MOST:
            self._lose(same[0], replaced)
        total = sum(entry[3] for entry in self._entries.values())
        while total > self.most_bytes and len(self._entries) > 1:
            oldest = next(iter(self._entries))
            total -= self._entries[oldest][3]
            self._lose(oldest, replaced)

    def clear(self, why):
        """Drops all results."""
        for name in list(self._entries):
            self._lose(name, why)

    def get(self, name=None):
        """The value of that name; without a name, the newest that a model was told of."""
        if name is None:
            name = next((name for name in reversed(self._entries) if self._entries[name][4]), None)
        if name in self._entries:
            return self._entries[name][0]
        there = f"kept are {', '.join(self._entries)}" if self._entries else "none is kept now"
        if name is None:
            raise LookupError("no result is kept: codeyard keeps only results that are too large to show, in the session of their run")
        if name in self._lost:
            raise LookupError(f"result {name!r} is lost: {self._lost[name]}; run its program again ({there})")
        raise LookupError(f"there is no result {name!r:.40}; {there}")

    def listing(self):
        """All kept results, oldest first."""
        return [{"name": name, "type": kind, "size": size} for name, (_, kind, size, *_) in self._entries.items()]

    def _lose(self, name, why):
        del self._entries[name]
        self._lost[name] = why
        if len(self._lost) > _REMEMBERED:
            del self._lost[next(iter(self._lost))]


def _weight(value, looks, depth):
    """A value's estimated bytes: in a large container, `looks` evenly spread items stand for all."""
    try:
        return _table(value) or sys.getsizeof(value) + _inside(value, looks, depth)
    except Exception:
        return 0  # The size is unknown; the number of results is limited anyway.


def _table(value):
    usage = getattr(type(value), "memory_usage", None)
    if usage is not None:
        used = usage(value, deep=True)
        return int(used.sum() if hasattr(used, "sum") else used)
    if hasattr(type(value), "nbytes"):
        return int(value.nbytes)
    return 0


def _inside(value, looks, depth):
    items = _items(value)
    if depth >= _DEEPEST or not items:
        return 0
    stride = -(-len(items) // max(1, looks))
    looked = list(islice(items, stride // 2, None, stride))
    seen = Counter(map(id, looked))
    one = {id(item): item for item in looked}
    each = looks // len(one)
    # An object that occurs repeatedly counts once.
    single = sum(_weight(item, each, depth + 1) for mark, item in one.items() if seen[mark] == 1)
    again = sum(_weight(item, each, depth + 1) for mark, item in one.items() if seen[mark] > 1)
    return single * len(items) // len(looked) + again


def _items(value):
    """The parts of a value, where they can be examined."""
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, (list, tuple, set, frozenset, deque)):
        return value
    fields = getattr(value, "__dict__", None)
    return fields.values() if type(fields) is dict else ()


_current = None


def connect(kept):
    """Sets the results that programs ask for; `None` for none."""
    global _current
    _current = kept


def current():
    """The kept results of this process's session."""
    return _current if _current is not None else Kept()
