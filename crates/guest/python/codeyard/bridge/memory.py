"""The memory of a principal: JSON values by key, which outlive the session."""

import inspect
from math import isfinite

from codeyard.calls import host
from codeyard.errors import BridgeError, RefusedError
from codeyard.jsonable import MAX_DEPTH
from codeyard.values import BridgeBox

# Most attempts of an update when other sessions change the value first.
_ATTEMPTS = 100


def save_memory(key, value, *, metadata=None):
    """Saves a JSON value and the dict `metadata` under a key."""
    _save(key, value, metadata)
    return f"Memory '{key}' saved."


def load_memory(key, *, default=None):
    """The value of a key; `default` if there is none."""
    entry = get_memory_info(key)
    return default if entry is None else entry["value"]


def delete_memory(key):
    """Deletes a key."""
    deleted = host("memory_delete", key=_checked(key))["deleted"]
    return f"Memory '{key}' {'deleted' if deleted else 'not found'}."


def list_memories():
    """All memories, sorted by key: `{key, metadata, created_at, updated_at, bytes}` each."""
    return [dict(entry) for entry in host("memory_list")]


def update_memory(key, fn):
    """Replaces a value by `fn(value)` and returns that; `fn` gets `None` where there is none.

    If another session changes the value meanwhile, `fn` is called again with the newer one.
    """
    if not callable(fn):
        raise RefusedError(f"update_memory expects a function of the value, not {type(fn).__name__}", kind="refused")
    for _ in range(_ATTEMPTS):
        entry = get_memory_info(key) or {"value": None, "metadata": None, "version": 0}
        value = fn(entry["value"])
        if inspect.iscoroutine(value):
            value.close()
            raise RefusedError("update_memory expects a plain function, and this one is async", kind="refused")
        try:
            _save(key, value, entry["metadata"], version=entry["version"])
        except BridgeError as error:
            if error.kind != "conflict":
                raise
        else:
            return value
    raise BridgeError(f"Memory '{key}' is changed by others all the time", kind="conflict", retryable=True)


def memory_exists(key):
    """Whether the key has a value."""
    return host("memory_load", key=_checked(key), head=True) is not None


def get_memory_info(key):
    """A memory's details: `{key, value, metadata, created_at, updated_at, version, bytes}`; `None` if missing."""
    entry = host("memory_load", key=_checked(key))
    return None if entry is None else dict(entry)


def _save(key, value, metadata, **version):
    if metadata is not None and not isinstance(metadata, dict):
        raise RefusedError(f"metadata is a dict, not {type(metadata).__name__}", kind="refused")
    value, metadata = _plain(value, "value"), _plain(metadata or {}, "metadata")
    host("memory_save", key=_checked(key), value=value, metadata=metadata, **version)


def _checked(key):
    """Checks the type only; the host checks the text."""
    if not isinstance(key, str):
        raise RefusedError(f"a memory's key is a string, not {type(key).__name__}", kind="refused")
    return _text(key, "the key")


def _plain(value, place, depth=0):
    """The value in plain JSON types. Refuses values that JSON would not give back unchanged."""
    if isinstance(value, BridgeBox):
        value = value.value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, place)
    if isinstance(value, (int, float)):
        return _number(value, place)
    if depth >= MAX_DEPTH:
        raise _refused(place[:60] + "...", f"is nested deeper than {MAX_DEPTH} levels or contains itself")
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{place}[{index}]", depth + 1) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {_name(key, place): _plain(item, f"{place}[{key!r}]", depth + 1) for key, item in value.items()}
    raise _refused(place, f"is a {type(value).__name__}")


def _text(value, place):
    text = str.__str__(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _refused(place, "is text with half a character (a lone surrogate)") from None
    return text


def _number(value, place):
    if isinstance(value, float):
        if not isfinite(value):
            raise _refused(place, f"is {float(value)}")
        return float(value)
    if not -0x8000000000000000 <= value <= 0xFFFFFFFFFFFFFFFF:
        raise _refused(place, "is an integer of more than 64 bits")
    return int(value)


def _name(key, place):
    if not isinstance(key, str):
        raise _refused(place, f"has a key that is a {type(key).__name__}: {key!r:.60}")
    return _text(key, f"a key of {place}")


def _refused(place, what):
    remedy = "a memory is JSON: dict with text keys, list, text, number, bool or None"
    return RefusedError(f"{place} {what}", kind="refused", hint=remedy)
