"""Prompts of the connected servers: `from mcp import prompts`."""

from codeyard.calls import host, host_async
from codeyard.jsonable import to_arguments
from codeyard.resources import named, proposals, record, records

__all__ = ["complete", "complete_sync", "get", "get_sync", "list", "list_sync"]


async def list(server=None):
    """The prompts of a server, or of all: `{server, name, arguments}` each."""
    return _listed(await host_async("prompts", **named(server=server)))


def list_sync(server=None):
    """The same, blocking."""
    return _listed(host("prompts", **named(server=server)))


async def get(server, name, args=None):
    """A prompt filled in with these arguments: `messages`, each with `role` and `content`."""
    return record(await host_async("prompt", **_wanted(server, name, args)))


def get_sync(server, name, args=None):
    """The same, blocking."""
    return record(host("prompt", **_wanted(server, name, args)))


async def complete(server, name, argument, value="", args=None):
    """The server's completions of `value` for a prompt's argument; `args` holds the other arguments."""
    return proposals(await host_async("completion", **_asked(server, name, argument, value, args)))


def complete_sync(server, name, argument, value="", args=None):
    """The same, blocking."""
    return proposals(host("completion", **_asked(server, name, argument, value, args)))


def _asked(server, name, argument, value, args):
    needed = None if server is None or name is None or argument is None else ""
    asked = named(needed=needed, server=server, name=name, argument=argument, value=value)
    return asked if args is None else {**asked, "args": to_arguments("prompts.complete", args)}


def _wanted(server, name, args):
    wanted = named(needed=None if server is None or name is None else "", server=server, name=name)
    return {**wanted, "args": to_arguments("prompts.get", args or {})}


def _listed(answer):
    return records(answer["prompts"], answer)
