"""Results of tools on the surface `bridge`: ordinary values that also behave as their MCP result.

Each kind answers `r["content"]`, `r.content`, `r.get("content")` and `"content" in r`, and the same
for `structuredContent` and `isError`, unless that would change the value's own meaning: `in` on a
text looks for a substring, and a dict's own key is the attribute. `None`, `True` and `False` come
in a box that prints, compares, counts as true and becomes JSON like them; only `is` tells the
difference.
"""

import json

from codeyard import values
from codeyard.values import BRIDGE_KEYS, BridgeBox, BridgeFloat, BridgeInt, BridgeItems, BridgeText, Record, of_raw

_to_json = json.JSONEncoder.default


def value_of(raw):
    """The value of a raw result."""
    return values.wrap(raw, _WRAPPERS)


def install():
    """Makes `json` write boxes as their values."""

    def default(encoder, value):
        return value.value if isinstance(value, BridgeBox) else _to_json(encoder, value)

    json.JSONEncoder.default = default


def uninstall():
    """Undoes `install`."""
    json.JSONEncoder.default = _to_json


def _has(raw, key):
    # An MCP result without this key is not an error.
    return key in BRIDGE_KEYS and (key in raw or key == "isError")


class _Keyed:
    """Adds `get` to a class with the keys as items and attributes."""

    __slots__ = ()

    def get(self, key, default=None):
        return of_raw(self.raw, key) if _has(self.raw, key) else default


class LoadedText(_Keyed, BridgeText):
    """A str. `in` looks for a part of the text."""

    __slots__ = ()


class LoadedItems(_Keyed, BridgeItems):
    """A list."""

    __slots__ = ()

    def __contains__(self, key):
        return super().__contains__(key) or _has(self.raw, key)


class _Keys(_Keyed):
    """Adds items and attributes to a class that has none."""

    __slots__ = ()
    __iter__ = None  # Otherwise Python would request item 0.

    def __contains__(self, key):
        return _has(self.raw, key)

    def __getattr__(self, name):
        if name in BRIDGE_KEYS:
            return of_raw(self.raw, name)
        raise AttributeError(f"this result has no attribute {name!r}")

    def keys(self):
        return [key for key in BRIDGE_KEYS if _has(self.raw, key)]


class LoadedInt(_Keys, BridgeInt):
    """An int."""


class LoadedFloat(_Keys, BridgeFloat):
    """A float."""


class LoadedBox(_Keys, BridgeBox):
    """`None`, `True` or `False`."""

    __slots__ = ()


class LoadedRecord(Record):
    """A dict. As an item, and for `get` and `in`, a key of the raw result goes before one of its own, because that is
    what programs for this surface were written for; as an attribute it is its own.

    Once the program has set or removed a key, its own value answers, or nothing does. Iteration, `keys`, `len`, `==`
    and JSON know the dict's own keys only.
    """

    __slots__ = ("_changed",)

    def __init__(self, value):
        super().__init__(value)
        self._changed = frozenset()  # keys of the raw result that the program has set or removed

    def __getitem__(self, key):
        return of_raw(self.raw, key) if self._is_of_raw(key) else super().__getitem__(key)

    def __getattr__(self, name):
        if dict.__contains__(self, name):
            return dict.__getitem__(self, name)
        return super().__getattr__(name)

    def __contains__(self, key):
        return dict.__contains__(self, key) or (self._is_of_raw(key) and _has(self.raw, key))

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __setitem__(self, key, value):
        self._change(key)
        super().__setitem__(key, value)

    def __delitem__(self, key):
        if key not in self:
            raise KeyError(key)
        self._change(key)
        super().pop(key, None)

    def __ior__(self, other):
        self.update(other)
        return self

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *others, **named):
        changes = dict(*others, **named)
        self._change(*changes)
        super().update(changes)

    def pop(self, key, *default):
        if key not in self:
            return super().pop(key, *default)
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        key, value = super().popitem()
        self._change(key)
        return key, value

    def clear(self):
        super().clear()
        self._change(*BRIDGE_KEYS)

    def __reduce__(self):
        return _again, (dict(self), self.raw, self._changed)

    def _is_of_raw(self, key):
        return key in BRIDGE_KEYS and key not in self._changed

    def _change(self, *keys):
        self._changed |= {key for key in keys if key in BRIDGE_KEYS}


def _again(value, raw, changed):
    """A copy of a `LoadedRecord`."""
    record = LoadedRecord(value)
    record.raw, record._changed = raw, changed
    return record


_WRAPPERS = {
    dict: LoadedRecord,
    Record: LoadedRecord,
    list: LoadedItems,
    str: LoadedText,
    int: LoadedInt,
    float: LoadedFloat,
    bool: LoadedBox,
    type(None): LoadedBox,
}
