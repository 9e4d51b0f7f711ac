"""Names that every program has without an import: builtins, so a program's own names take precedence."""

import builtins
import json
import os

from codeyard import imports, places, proxies, runtime, shown
from codeyard.errors import MCPError, ToolError


def read_file(path):
    """The text of a file; relative paths start at /scratch."""
    with open(_below_scratch(path), encoding="utf-8") as file:
        return file.read()


def write_file(path, content):
    """Writes a text file and the directories that it needs; relative paths start at /scratch."""
    path = _below_scratch(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)


def list_dir(path=""):
    """The names in a directory, in order; relative paths start at /scratch."""
    return sorted(os.listdir(_below_scratch(path)))


def _below_scratch(path):
    return os.path.join(places.SCRATCH, places.actual(path))


_CODE = {
    "LOADED_MCP_SERVERS": proxies.loaded_servers,
    "MCPError": MCPError,
    "ToolError": ToolError,
    "__toolcall__": proxies.toolcall,
    "call_mcp_tool": proxies.call_mcp_tool,
    "json": json,
    "list_dir": list_dir,
    "mcp": imports.mcp,
    "mcp_servers": proxies.mcp_servers,
    "read_file": read_file,
    "runtime": runtime,
    "servers": proxies.servers,
    "show": shown.show,
    "tools": proxies.tools,
    "write_file": write_file,
}


# Python's own builtins, before any addition.
BUILT_IN = frozenset(vars(builtins))

_present = {}
_servers = proxies.bridge_servers


def install():
    """Adds the names of the surface `code` to this process."""
    replace(_CODE, proxies.bridge_servers)


def replace(names, servers):
    """Sets this process's additional names; `servers` resolves names like `mcp_crm`."""
    global _present, _servers
    _servers = servers
    # Only on a change: new builtins make Python discard its specializations.
    if _present is not names:
        for name in _present.keys() - names.keys():
            vars(builtins).pop(name, None)
        vars(builtins).update(names)
        _present = names


def assign(name, value):
    vars(builtins)[name] = value


def reserved(name):
    """Whether a name means the same in every program, so that no saved item may take it."""
    special = name.startswith("mcp_") or (name.startswith("__") and name.endswith("__"))
    return special or name in BUILT_IN or name in _present


def bind_bridge(names, namespace):
    """Binds names like `mcp_crm` to the servers of those aliases, unless the program has bound them."""
    for name in names:
        namespace.setdefault(name, _servers[name[len("mcp_") :]])
