"""Names that every program has without an import. They are builtins: the program's own names go before them."""

import builtins
import json
import os

from codeyard import imports, places, proxies, runtime
from codeyard.errors import MCPError, ToolError


def read_file(path):
    """The text of a file; a relative path is one below /scratch."""
    with open(_below_scratch(path), encoding="utf-8") as file:
        return file.read()


def write_file(path, content):
    """Writes a text file and the directories that it needs; a relative path is one below /scratch."""
    path = _below_scratch(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)


def list_dir(path=""):
    """The names in a directory, in order; a relative path is one below /scratch."""
    return sorted(os.listdir(_below_scratch(path)))


def _below_scratch(path):
    return os.path.join(places.SCRATCH, places.actual(path))


_NAMES = {
    "LOADED_MCP_SERVERS": proxies.loaded_servers,
    "MCPError": MCPError,
    "ToolError": ToolError,
    "__toolcall__": proxies.toolcall,
    "json": json,
    "list_dir": list_dir,
    "mcp": imports.mcp,
    "mcp_servers": proxies.mcp_servers,
    "read_file": read_file,
    "runtime": runtime,
    "servers": proxies.servers,
    "tools": proxies.tools,
    "write_file": write_file,
}


def install():
    """Adds the names to this process, once: a change of the builtins makes Python forget what it has learned."""
    if "mcp_servers" not in vars(builtins):
        vars(builtins).update(_NAMES)


def bind_bridge(names, namespace):
    """Makes names like `mcp_crm`, where the program has not given them another meaning, servers of that alias."""
    for name in names:
        namespace.setdefault(name, proxies.bridge_servers[name[len("mcp_") :]])
