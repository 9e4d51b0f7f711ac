"""Sends a run's result to the host: whole, or if too large for a model, its name, size and beginning."""

import sys
from collections.abc import Iterator, Mapping
from io import IOBase
from itertools import islice

from codeyard import binary
from codeyard.frames import pack
from codeyard.jsonable import MAX_RESULT, Converter, TooLarge, distinct
from codeyard.kept import Kept

# Most items and keys of a container, and characters of a text, in a beginning; the first that fits
# into MOST_SAMPLE is used.
_BEGINNINGS = ((5, 30, 200), (3, 16, 60), (1, 8, 20))
MOST_SAMPLE = 4096
_MOST_NAME = 60
# Bytes of UTF-8.
_MOST_SIZE = 500
_MOST_FIRST = 60
_TOLD_PARTS = 4
_HEADER = 4
_NOTHING = object()
# Tools' values are reported as their plain Python types.
_KINDS = {"Record": "dict", "Block": "dict", "BridgeRecord": "dict", "Items": "list", "BridgeItems": "list", "Text": "str", "BridgeText": "str"}


class Handing:
    """A session's results, and the kept ones."""

    def __init__(self):
        self.kept = Kept()
        self._name = ""
        self._most = None
        self._value = _NOTHING
        self._is_large = False

    def begin(self, number, most):
        """Starts a run. A result of more than `most` bytes of JSON stays here; if `None`, all are sent."""
        self._name = f"r{number}"
        self._most = most and min(most, MAX_RESULT)
        self._value = _NOTHING
        self._is_large = False

    def convert(self, value, on_image):
        """A result as JSON; nothing if it is too large."""
        if self._most is None:
            return Converter(on_image, MAX_RESULT).convert(value)
        self._value = value
        if isinstance(value, (str, bytes, bytearray)) and len(value) > self._most:
            placeholder = None if isinstance(value, str) else on_image(bytes(value))
            self._is_large = placeholder is None
            return placeholder
        converter = Converter(on_image, self._most, cuts=False)
        try:
            converted = converter.convert(value)
        except TooLarge:
            if converter.consumed:
                if converter.taken is None:
                    raise TooLarge("the result is too large, and iterators in it are used up; return lists instead") from None
                self._value = converter.taken
            self._is_large = True
            return None
        if converter.consumed:
            self._value = converted  # An exhausted iterator has no items left.
        return converted

    def pack(self, done):
        """The frame of a run's end; `None` without memory for a result that can stay here."""
        try:
            return pack(done)
        except MemoryError:
            if self._value is _NOTHING or self._is_large:
                raise
            self._is_large = True
            return None

    def concerns(self, frame):
        """Whether the result needs special handling."""
        return self._value is not _NOTHING and (self._is_large or frame is None or len(frame) > binary.LEAST)

    def settle(self, done, frame):
        """Removes from the frame what should stay here."""
        size = None
        if not self._is_large:
            data = frame
            if len(data) > self._most or "content" in done:
                data = pack(done["result"])
            if len(data) - _HEADER <= self._most:
                if binary.may_hold_binary(data):
                    self.kept.keep(self._name, self._value, _kind(self._value), _size(self._value, None), is_told=False)
                    done["kept"] = {"name": self._name}
                return
            size = len(data) - _HEADER
        done.pop("result", None)
        done["kept"] = told = {"name": self._name, "kind": _kind(self._value), "size": _size(self._value, size)}
        self.kept.keep(self._name, self._value, told["kind"], told["size"])
        sample = _sample(self._value)
        if sample is not None:
            told["sample"] = sample
        first = _first(self._value)
        if first is not None:
            told["first"] = first

    def end(self, error):
        """Drops the run's value, and after a memory error the kept results too."""
        self._value = _NOTHING
        if isinstance(error, MemoryError):
            self.kept.clear("the session ran out of memory")


class _Beginning(Converter):
    """Converts a few items of each container and the first characters of each text."""

    def __init__(self, items, keys, characters):
        super().__init__()
        self._left = items
        self._items_each = items
        self._keys_each = keys
        self._characters = characters

    def convert(self, value, depth=0):
        if isinstance(value, (bytes, bytearray, memoryview)):
            return f"<{len(value):,} bytes: {bytes(value[:16]).hex(' ')}…>"
        if isinstance(value, Iterator) and not isinstance(value, IOBase):
            return f"<{_kind(value)}>"  # Its items exist nowhere else.
        converted = super().convert(value, depth)
        most = self._characters if depth else 5 * self._characters
        if type(converted) is str and len(converted) > most:
            return f"{converted[:most]}… ({len(converted):,} characters)"
        return converted

    def _foreign(self, value, depth):
        numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
        if isinstance(value, tuple(getattr(pandas, name, ()) for name in ("DataFrame", "Series"))):
            value = value.head(self._items_each)
        elif isinstance(value, getattr(numpy, "ndarray", ())) and value.ndim:
            value = value[: self._items_each]
        return super()._foreign(value, depth)

    def _items(self, values, depth):
        most = self._items_each if depth < 4 else 1
        return [self.convert(item, depth) for item in islice(values, most)]

    def _object(self, mapping, depth):
        some = list(islice(mapping.items(), self._keys_each))
        names = distinct([self._key(key)[: self._characters] for key, _ in some])
        return dict(zip(names, [self.convert(item, depth) for _, item in some]))


def _sample(value):
    """A value's beginning as JSON; `None` if no beginning is short enough or can be converted."""
    for beginning in _BEGINNINGS:
        try:
            sample = _Beginning(*beginning).convert(value)
            if len(pack(sample)) - _HEADER <= MOST_SAMPLE:
                return sample
        except Exception:
            return None  # The value's own methods raise.
    return None


def _first(value):
    """A dict's first key as a Python literal; `None` for a long or complex key."""
    if not isinstance(value, dict):
        return None
    key = next(iter(dict.keys(value)), None)
    if type(key) not in (str, int, bool) or (type(key) is int and key.bit_length() > 64):
        return None
    first = repr(key[: _MOST_FIRST + 1] if type(key) is str else key)
    return first if len(first.encode()) <= _MOST_FIRST else None


def _kind(value):
    name = str.__str__(type.__dict__["__name__"].__get__(type(value)))
    name = _KINDS.get(name, name)
    return "".join(c if c.isprintable() else "?" for c in name[:_MOST_NAME])


def _size(value, size):
    """The size of a value in words."""
    try:
        words = _extent(value)
        if isinstance(value, Mapping):
            parts = [f"{key}: {_extent(item)}" for key, item in islice(value.items(), 100) if _is_long(key, item)]
            if parts:
                words += f" ({', '.join(parts[:_TOLD_PARTS])})"
    except Exception:
        words = "of unknown length"
    if size is not None:
        words += f", {size:,} bytes of JSON"
    return words.encode(errors="replace")[:_MOST_SIZE].decode(errors="ignore")


def _is_long(key, item):
    return type(key) is str and len(key) <= 40 and key.isprintable() and isinstance(item, (str, list, tuple)) and len(item) > 5


def _extent(value):
    shape = getattr(value, "shape", None)
    if type(shape) is tuple and all(type(side) is int for side in shape):
        if len(shape) == 2 and hasattr(value, "columns"):
            return f"{shape[0]:,} rows x {shape[1]:,} columns"
        return " x ".join(f"{side:,}" for side in shape[:8]) + " values"
    noun = "characters" if isinstance(value, str) else "bytes" if isinstance(value, (bytes, bytearray)) else "items"
    if isinstance(value, Mapping):
        noun = "keys"
    count = len(value)
    return f"{count:,} {noun[:-1] if count == 1 else noun}"
