"""Converts results and call arguments to JSON that is always valid."""

import dataclasses
import datetime
import sys
from base64 import b64encode
from collections.abc import Iterator, Mapping, MappingView, Sequence, Set
from decimal import Decimal
from enum import Enum
from io import IOBase
from itertools import islice
from math import isfinite
from pathlib import PurePath
from uuid import UUID

from codeyard import images
from codeyard.values import BridgeBox

# The host refuses JSON nested deeper than 128; the frame around a value takes two levels.
MAX_DEPTH = 100
# Most values in a result, over all containers.
MAX_VALUES = 1_000_000
# Most bytes of a result; larger ones belong in a file. With a run's images it must fit into a frame.
MAX_RESULT = 24 * 1024 * 1024
# Bytes of text counted before a result is given up; up to here the exact size can be reported.
_MEASURED = 1024 * 1024
# Most items taken from an iterator, which may be endless.
MAX_ITERATED = 100_000
# Most rows of a shortened table.
MAX_ROWS = 10_000
MAX_REPR = 10_000

_TEXT = frozenset({str})
_PLAIN = frozenset({bool, type(None)})
_NOTHING = object()


class TooLarge(ValueError):
    """A result with too many values, or too long texts."""

    __module__ = "builtins"


class Converter:
    """Converts one result. Image bytes go to `on_image`, which returns their placeholder.

    A result that certainly takes more than `most` bytes of JSON raises TooLarge before it is
    written. With `cuts`, a long table becomes its beginning and a note instead. `consumed` counts
    exhausted iterators; `taken` holds the items of the result itself, if it was the only one.
    """

    def __init__(self, on_image=None, most=None, cuts=True):
        self._on_image = on_image
        # A value with its separator takes at least two bytes, so more of them cannot fit.
        self._left = MAX_VALUES if most is None else min(MAX_VALUES, most // 2 + 1)
        self._room = most and max(most, _MEASURED)
        self._cuts = cuts
        self._path = set()
        self.consumed = 0
        self.taken = None

    def convert(self, value, depth=0):
        kind = type(value)
        if kind is str:
            return self._text(value) if depth else value
        if kind in _PLAIN:
            return value
        if kind is int:
            return value if -0x8000000000000000 <= value <= 0xFFFFFFFFFFFFFFFF else self._big(value)
        if kind is float:
            return value if isfinite(value) else None  # JSON has neither NaN nor infinities.
        if depth >= MAX_DEPTH:
            return self.too_deep(value)
        # A value that contains itself has no JSON.
        path, mark = self._path, id(value)
        if mark in path:
            return self.circular(value)
        path.add(mark)
        if kind is dict:
            converted = self._object(value, depth + 1)
        elif kind is list or kind is tuple:
            converted = self._items(value, depth + 1)
        else:
            converted = self._instance(value, depth + 1)
        path.discard(mark)
        return converted

    def _items(self, values, depth):
        self._spend(len(values))
        convert = self.convert
        return [item if type(item) in _PLAIN else convert(item, depth) for item in values]

    def _object(self, mapping, depth):
        self._spend(len(mapping))
        convert = self.convert
        # 1 and "1" are two keys of a dict, but one name.
        names = mapping if {*map(type, mapping)} <= _TEXT else distinct(map(self._key, mapping))
        converted = {
            name: item if type(item) in _PLAIN else convert(item, depth) for name, item in zip(names, mapping.values())
        }
        if self._room is not None:
            self._write(sum(map(len, converted)))
        return converted

    def _spend(self, count):
        self._left -= count
        if self._left < 0:
            raise TooLarge(f"more than {MAX_VALUES:,} values; write them to a file in /results instead")

    def _text(self, text):
        if self._room is not None:
            self._write(str.__len__(text))
        return text

    def _write(self, characters):
        """Counts the least size of texts: a text may occur in a result any number of times."""
        self._room -= characters
        if self._room < 0:
            raise TooLarge(f"more than {MAX_RESULT:,} bytes; write them to a file in /results instead")

    def _key(self, key):
        if isinstance(key, Enum):
            key = key.value
        if isinstance(key, str):
            return str.__str__(key)
        if key is None or isinstance(key, bool):
            return {None: "null", True: "true", False: "false"}[key]
        if isinstance(key, (datetime.datetime, datetime.date, datetime.time)):
            return key.isoformat()
        return str(key)

    def _big(self, value):
        """The host's numbers end at 64 bits; a longer number stays exact as text."""
        try:
            return self._text(str(value))
        except ValueError:  # more digits than Python converts
            return self._text(hex(value))

    def _instance(self, value, depth):
        for types, convert in _BY_TYPE:
            if isinstance(value, types):
                return convert(self, value, depth)
        found, converted = self._foreign(value, depth)
        if found:
            return converted
        return self._shaped(value, depth)

    def _shaped(self, value, depth):
        """Objects recognized by their attributes."""
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
            return self._object(fields, depth)
        kind = type(value)
        if hasattr(kind, "__pydantic_validator__"):
            return self.convert(value.model_dump(), depth)
        if hasattr(kind, "__fields__") and hasattr(kind, "dict"):  # pydantic 1
            return self.convert(value.dict(), depth)
        if isinstance(value, Mapping):
            return self._object(dict(value), depth)
        if isinstance(value, (Set, Sequence, MappingView)):
            return self._items(list(islice(value, self._left + 1)), depth)
        if isinstance(value, Iterator) and not isinstance(value, IOBase):
            return self._iterated(value, depth)
        return self._text(self.other(value))

    def _iterated(self, iterator, depth):
        items = list(islice(iterator, MAX_ITERATED))
        self.consumed += 1
        if self.consumed == 1:
            # The items exist nowhere else, so only the general limits apply from here on.
            self._left = MAX_VALUES
            self._room = self._room and MAX_RESULT
        if len(items) == MAX_ITERATED and next(iterator, _NOTHING) is not _NOTHING:
            items = self.unfinished(items, type(iterator).__name__)
        self.taken = items if self.consumed == 1 and depth == 1 else None
        return self.convert(items, depth)

    def _foreign(self, value, depth):
        """Values of numpy and pandas, if imported. Returns `(found, converted)`."""
        numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
        if pandas is not None and hasattr(pandas, "DataFrame"):
            if isinstance(value, pandas.DataFrame):
                return True, self._table(value, depth)
            if isinstance(value, pandas.Series):
                return True, self._series(value, depth)
            if isinstance(value, (pandas.Index, pandas.api.extensions.ExtensionArray)):
                return True, self._items(value[: self._left + 1].tolist(), depth)
            if value is pandas.NaT or value is pandas.NA:
                return True, None
            if isinstance(value, (pandas.Period, pandas.Interval)):
                return True, str(value)
        if numpy is not None and hasattr(numpy, "ndarray"):
            if isinstance(value, numpy.ndarray):
                self._refuse_more(value.size)
                is_cut = value.size > MAX_VALUES
                return True, self.other(value) if is_cut else self.convert(value.tolist(), depth)
            if isinstance(value, (numpy.datetime64, numpy.timedelta64)):
                return True, None if numpy.isnat(value) else str(value)
            if isinstance(value, numpy.generic):
                plain = value.item()
                return True, self.other(value) if isinstance(plain, numpy.generic) else self.convert(plain, depth)
        return False, None

    def _table(self, table, depth):
        """A list of records; includes the index unless it only counts the rows."""
        rows = len(table)
        self._refuse_more(rows * max(1, len(table.columns)))
        head = table.head(MAX_ROWS) if self._cuts else table
        records = self.convert(self._records(head), depth)
        if len(head) == rows:
            return records
        return {"records": records, "rows": rows, "note": _cut("rows", rows)}

    def _records(self, table):
        """One dict per row. Columns and index levels may share names; all are kept."""
        columns = distinct(map(self._key, table.columns))
        table = table.copy(deep=False)
        table.columns = columns
        split = table.to_dict("split")
        if _counts_rows(table.index):
            return [dict(zip(columns, row)) for row in split["data"]]
        names = distinct(columns + self._levels(table.index.names, set(columns)))
        names = names[len(columns) :] + names[: len(columns)]
        labels = split["index"] if table.index.nlevels > 1 else zip(split["index"])
        return [dict(zip(names, (*label, *row))) for label, row in zip(labels, split["data"])]

    def _levels(self, names, columns):
        """Names of an index's levels, with pandas' defaults for unnamed ones, and a suffix if a column has the name."""
        unnamed = "index" if len(names) == 1 and "index" not in columns else "level_{}"
        named = [unnamed.format(n) if name is None else self._key(name) for n, name in enumerate(names)]
        return [f"{name}_index" if name in columns else name for name in named]

    def _refuse_more(self, values):
        """Reports a result as too large, where this is clear without conversion."""
        if not self._cuts and values > self._left:
            raise TooLarge(f"more than {MAX_VALUES:,} values; write them to a file in /results instead")

    def _series(self, series, depth):
        self._refuse_more(len(series))
        head = series.head(MAX_ROWS) if self._cuts else series
        values = head.tolist()
        if not _counts_rows(head.index):
            keys = head.index.tolist()
            values = dict(zip(keys, values)) if head.index.is_unique else [list(pair) for pair in zip(keys, values)]
        converted = self.convert(values, depth)
        if len(head) == len(series):
            return converted
        return {"values": converted, "length": len(series), "note": _cut("values", len(series))}

    def _bytes(self, value, _depth):
        if images.mime_of(bytes(value[:1024])) is None:
            self._refuse_more(len(value) // 2)
        data = bytes(value)
        placeholder = self._on_image(data) if self._on_image is not None else None
        if placeholder is not None:
            return placeholder
        try:
            return self._text(data.decode())
        except UnicodeDecodeError:
            return self._text("data:application/octet-stream;base64," + b64encode(data).decode())

    def _unordered(self, value, depth):
        try:
            return self._items(sorted(value), depth)
        except TypeError:
            return self._items(list(value), depth)

    def _tuple(self, value, depth):
        names = getattr(value, "_fields", None)
        if isinstance(names, tuple):
            return self._object(dict(zip(names, value)), depth)
        return self._items(value, depth)

    # Call arguments refuse these values; a result shows them as text.

    def other(self, value):
        return short_repr(value)

    def too_deep(self, value):
        return short_repr(value, 200)

    def circular(self, value):
        raise ValueError(f"the result contains itself: a {type(value).__name__:.40} is one of its own items; return a copy without the cycle")

    def unfinished(self, items, kind):
        """The items taken from an iterator that has more."""
        note = f"the first {len(items):,} items; the {kind:.40} gives more, and what it gave is used up"
        return {"items": items, "note": note}


class _Arguments(Converter):
    """Converts call arguments: values without JSON are errors, not texts, and nothing is shortened."""

    def __init__(self):
        super().__init__(cuts=False)

    def other(self, value):
        raise TypeError(f"a value of type {type(value).__name__} cannot be passed to a tool; convert it to JSON values")

    def too_deep(self, _value):
        raise ValueError(f"arguments nested deeper than {MAX_DEPTH} levels cannot be passed to a tool")

    def circular(self, _value):
        raise ValueError("a value that contains itself cannot be passed to a tool")

    def unfinished(self, items, kind):
        raise ValueError(f"the {kind:.40} gives more than {len(items):,} items; pass a list of those that the tool needs")


def to_arguments(label, mapping):
    """Call arguments as a JSON object; an error names the argument."""
    converted = {}
    for name, value in mapping.items():
        if type(name) is not str:
            raise TypeError(f"{label}: names of arguments are strings, not {type(name).__name__}")
        try:
            converted[name] = _Arguments().convert(value, 1)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{label}: argument {name!r}: {error}") from None
    return converted


def distinct(names):
    """The names; repeated ones get a number: `id`, `id_2`."""
    names = list(names)
    taken, numbers, given = set(names), {}, []
    for name in names:
        number, own = numbers.get(name, 0) + 1, name
        while number > 1 and (own := f"{name}_{number}") in taken:
            number += 1
        numbers[name] = number
        taken.add(own)
        given.append(own)
    return given


def short_repr(value, limit=MAX_REPR):
    """`repr`, shortened; survives a `__repr__` that fails."""
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__}, whose repr raised {type(error).__name__}>"
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters)"


def _cut(noun, count):
    return f"the first {MAX_ROWS:,} of {count:,} {noun}; write them to a file in /results to have them all"


def _counts_rows(index):
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1 and index.name is None


def _plain(kind):
    """Converts subclasses of a JSON type as that type."""
    return lambda self, value, depth: self.convert(kind(value), depth)


def _moment(_self, value, _depth):
    text = value.isoformat()
    return None if text == "NaT" else text


# Order matters: an `IntEnum` is also an int, a `datetime` a date, a `BridgeText` a str, `numpy.float64` a float.
_BY_TYPE = (
    (Enum, lambda self, value, depth: self.convert(value.value, depth)),
    (str, lambda self, value, depth: str.__str__(self._text(value))),
    (dict, lambda self, value, depth: self._object(value, depth)),
    (list, lambda self, value, depth: self._items(value, depth)),
    (tuple, Converter._tuple),
    (int, _plain(int)),
    (float, _plain(float)),
    (BridgeBox, lambda self, value, depth: self.convert(value.value, depth)),
    ((datetime.datetime, datetime.date, datetime.time), _moment),
    ((datetime.timedelta, Decimal, UUID, PurePath), lambda self, value, depth: self._text(str(value))),
    ((bytes, bytearray, memoryview), Converter._bytes),
    ((set, frozenset), Converter._unordered),
    (BaseException, lambda self, value, depth: self._text(f"{type(value).__name__}: {value}")),
)
