"""Resources and prompts of servers: `mcp.resources` and `mcp.prompts`, each function awaited or blocking."""

from types import ModuleType

from codeyard.calls import host, host_async
from codeyard.errors import ToolError
from codeyard.jsonable import to_arguments
from codeyard.values import Items, Record


class _Offers(ModuleType):
    """A module of two functions in two forms each."""

    def __init__(self, name, doc, functions):
        super().__init__(name, doc)
        self.__path__ = []
        self.__all__ = [function.__name__ for function in functions]
        for function in functions:
            setattr(self, function.__name__, function)

    def __repr__(self):
        return f"<{self.__name__}: {', '.join(self.__all__)}>"


async def _list_resources(server=None):
    """The resources of a server, or of all: `{server, uri, name}` each. Templates are at `.templates`."""
    return _resources(await host_async("resources", **_of(server)))


def _list_resources_sync(server=None):
    """The same, blocking."""
    return _resources(host("resources", **_of(server)))


async def _read(uri, server=None):
    """A resource: its text, its bytes where it is binary, or a list of these where it has several parts."""
    return _contents(await host_async("resource", **_uri(uri, server)))


def _read_sync(uri, server=None):
    """The same, blocking."""
    return _contents(host("resource", **_uri(uri, server)))


async def _list_prompts(server=None):
    """The prompts of a server, or of all: `{server, name, arguments}` each."""
    return _items(await host_async("prompts", **_of(server)), "prompts")


def _list_prompts_sync(server=None):
    """The same, blocking."""
    return _items(host("prompts", **_of(server)), "prompts")


async def _get(server, name, args=None):
    """A prompt with these arguments: `messages`, each with `role` and `content`."""
    return _prompt(await host_async("prompt", **_named(server, name, args)))


def _get_sync(server, name, args=None):
    """The same, blocking."""
    return _prompt(host("prompt", **_named(server, name, args)))


class Resources(Items):
    """Resources listed; `templates` describes those that have no fixed uri."""

    __slots__ = ("templates",)


class Content(str):
    """The text of a resource, with the raw answer at `.raw`."""

    __slots__ = ("raw",)


class Blob(bytes):
    """The bytes of a resource; the raw answer is at `.raw`."""


def _resources(answer):
    items = Resources(map(_record, answer["resources"]))
    items.templates = Items(map(_record, answer["templates"]))
    items.raw = items.templates.raw = answer
    return items


def _items(answer, key):
    items = Items(map(_record, answer[key]))
    items.raw = answer
    return items


def _record(fields):
    record = Record(fields)
    record.raw = fields
    return record


def _prompt(answer):
    return _record(answer)


def _contents(answer):
    parts = [_part(part, answer) for part in answer.get("contents") or []]
    if len(parts) == 1:
        return parts[0]
    items = Items(parts)
    items.raw = answer
    return items


def _part(part, answer):
    if isinstance(part, dict) and isinstance(part.get("blob"), str):
        from base64 import b64decode

        content = Blob(b64decode(part["blob"]))
    else:
        content = Content(part.get("text") or "" if isinstance(part, dict) else "")
    content.raw = answer
    return content


def _of(server):
    _check("server", server, optional=True)
    return {} if server is None else {"server": server}


def _uri(uri, server):
    _check("uri", uri)
    return {"uri": uri, **_of(server)}


def _named(server, name, args):
    _check("server", server)
    _check("name", name)
    return {"server": server, "name": name, "args": to_arguments("prompts.get", args or {})}


def _check(name, value, optional=False):
    if not (isinstance(value, str) or (optional and value is None)):
        raise ToolError(f"'{name}' must be a string")


def _named_as(name, function):
    function.__name__ = function.__qualname__ = name
    return function


resources = _Offers(
    "mcp.resources",
    "Resources of the connected servers.",
    [
        _named_as("list", _list_resources),
        _named_as("list_sync", _list_resources_sync),
        _named_as("read", _read),
        _named_as("read_sync", _read_sync),
    ],
)
prompts = _Offers(
    "mcp.prompts",
    "Prompts of the connected servers.",
    [
        _named_as("list", _list_prompts),
        _named_as("list_sync", _list_prompts_sync),
        _named_as("get", _get),
        _named_as("get_sync", _get_sync),
    ],
)
