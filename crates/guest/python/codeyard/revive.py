"""Converts arguments of tool files to the types that functions expect: data classes in place of JSON mappings."""

import inspect
import typing
from collections.abc import Mapping
from dataclasses import InitVar, is_dataclass
from types import UnionType

_UNIONS = (typing.Union, UnionType)


def revive(function, arguments):
    """The arguments, with data classes in place of mappings wherever a parameter's annotation names one."""
    if not any(isinstance(value, (Mapping, list, tuple)) for value in arguments.values()):
        return dict(arguments)
    kinds = _kinds(function)
    return {name: _revived(kinds.get(name), value) for name, value in arguments.items()}


def _kinds(annotated):
    try:
        return typing.get_type_hints(annotated)
    except Exception:  # An annotation may be any expression; those that are no text stand for themselves.
        return getattr(annotated, "__annotations__", {})


def _revived(kind, value):
    """Values whose type contains no data class stay unchanged."""
    kind = kind.type if isinstance(kind, InitVar) else kind
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in _UNIONS:
        revived = (_revived(part, value) for part in parts if _may_be(part, value))
        return next((other for other in revived if other is not value), value)
    if isinstance(value, Mapping):
        return _of_mapping(kind, origin, parts, value)
    if isinstance(value, (list, tuple)) and parts and _is_row(origin, parts):
        items = [_revived(parts[0], item) for item in value]
        if any(item is not before for item, before in zip(items, value)):
            return tuple(items) if isinstance(value, tuple) else items
    return value


def _of_mapping(kind, origin, parts, value):
    if isinstance(kind, type) and is_dataclass(kind):
        kinds = _kinds(kind)
        return kind(**{name: _revived(kinds.get(name), item) for name, item in value.items()})
    if typing.is_typeddict(kind):
        kinds = _kinds(kind)
        others = {name: _revived(kinds.get(name), item) for name, item in value.items()}
    elif len(parts) == 2 and isinstance(origin, type) and issubclass(origin, Mapping):
        others = {name: _revived(parts[1], item) for name, item in value.items()}
    else:
        return value
    return others if any(others[name] is not item for name, item in value.items()) else value


def _is_row(origin, parts):
    """Whether all items have one type: `list[P]`, `Sequence[P]`, `tuple[P, ...]`."""
    is_tuple = origin is tuple
    return isinstance(origin, type) and (parts[1:] == (...,) if is_tuple else len(parts) == 1)


def _may_be(kind, value):
    """Whether a mapping fits this member of a union: the type can be built from it."""
    if not (isinstance(kind, type) and is_dataclass(kind) and isinstance(value, Mapping)):
        return True
    try:
        inspect.signature(kind).bind(**value)
    except TypeError:
        return False
    return True
