"""Resources of the connected servers: `from mcp import resources`."""

from base64 import b64decode

from codeyard.calls import host, host_async
from codeyard.errors import failed_call
from codeyard.jsonable import to_arguments
from codeyard.values import Items, Record

__all__ = ["complete", "complete_sync", "list", "list_sync", "read", "read_sync"]


class Listed(Items):
    """Resources, or prompts, of servers. `templates` describes resources that have no fixed uri."""

    __slots__ = ("templates",)


class Content(str):
    """The text of a resource; the server's whole answer is at `raw`."""

    __slots__ = ("raw",)


class Blob(bytes):
    """The bytes of a resource; the server's whole answer is at `raw`."""


async def list(server=None):
    """The resources of a server, or of all: `{server, uri, name}` each. `.templates` has those without a fixed uri."""
    return _listed(await host_async("resources", **named(server=server)))


def list_sync(server=None):
    """The same, blocking."""
    return _listed(host("resources", **named(server=server)))


async def read(uri, server=None):
    """A resource's text, or its bytes if binary, or a list of these if it has several parts."""
    return _contents(await host_async("resource", **named(needed=uri, uri=uri, server=server)))


def read_sync(uri, server=None):
    """The same, blocking."""
    return _contents(host("resource", **named(needed=uri, uri=uri, server=server)))


async def complete(template, argument, value="", args=None, server=None):
    """The server's completions of `value` for `{argument}` of a template; `args` holds the other arguments."""
    return proposals(await host_async("completion", **_asked(template, argument, value, args, server)))


def complete_sync(template, argument, value="", args=None, server=None):
    """The same, blocking."""
    return proposals(host("completion", **_asked(template, argument, value, args, server)))


def proposals(answer):
    """The values that a server proposes: a list of strings."""
    try:
        values = [str(value) for value in answer["completion"]["values"]]
    except (KeyError, TypeError) as error:
        raise _odd(error) from None
    items = Items(values)
    items.raw = answer
    return items


def named(needed="", **names):
    """The given arguments of a host call; `needed` is required."""
    given = {name: value for name, value in names.items() if value is not None}
    for name, value in given.items():
        if not isinstance(value, str):
            raise failed_call(f"'{name}' must be a string, not {type(value).__name__}", kind="invalid_arguments")
    if needed is None:
        missing = next(name for name, value in names.items() if value is None)
        raise failed_call(f"'{missing}' is missing", kind="invalid_arguments")
    return given


def records(fields, answer):
    """Objects of an answer, with keys readable as attributes."""
    items = Listed(map(record, fields))
    items.raw = answer
    return items


def record(fields):
    made = Record(fields)
    made.raw = fields
    return made


def _listed(answer):
    items = records(answer["resources"], answer)
    items.templates = records(answer["templates"], answer)
    return items


def _contents(answer):
    try:
        parts = [_part(part, answer) for part in answer.get("contents") or []]
    except (AttributeError, TypeError, ValueError) as error:
        raise _odd(error) from None
    if len(parts) == 1:
        return parts[0]
    items = Items(parts)
    items.raw = answer
    return items


def _asked(template, argument, value, args, server):
    needed = None if template is None or argument is None else ""
    asked = named(needed=needed, template=template, argument=argument, value=value, server=server)
    return asked if args is None else {**asked, "args": to_arguments("resources.complete", args)}


def _odd(error):
    return failed_call(f"the server's answer does not match the protocol: {error}", kind="upstream")


def _part(part, answer):
    blob = part.get("blob")
    content = Content(part.get("text") or "") if blob is None else Blob(b64decode(blob))
    content.raw = answer
    return content
