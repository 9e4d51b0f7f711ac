"""The surface `bridge` in a session: what its programs find by name, and in their environment.

Each run may have other servers loaded; a server object that was kept from an earlier run asks anew.

The environment says in `MCP_AVAILABLE_SERVERS` which servers are loaded, and in `MCP_DISCOVERED_SERVERS` which there
are: JSON lists of `{name, alias}`. A list too long for a variable loses its end.
"""

import json
from os import environ

from codeyard import imports, names, places
from codeyard.bridge import loaded, results, runtime, saving
from codeyard.bridge.proxies import mcp_servers, servers
from codeyard.errors import BridgeError, ToolError, raise_as

# The system takes no variable of 128 KiB, and no more than a few MiB of all.
_LONGEST_VARIABLE = 32 * 1024

_NAMES = {
    "LOADED_MCP_SERVERS": (),
    "MCPError": BridgeError,
    "ToolError": ToolError,
    "delete_memory": runtime.delete_memory,
    "get_memory_info": runtime.get_memory_info,
    "json": json,
    "list_memories": runtime.list_memories,
    "load_memory": runtime.load_memory,
    "mcp": imports.mcp,
    "mcp_servers": mcp_servers,
    "memory_exists": runtime.memory_exists,
    "runtime": runtime,
    "save_memory": runtime.save_memory,
    "save_tool": runtime.save_tool,
    "update_memory": runtime.update_memory,
}


class Bridge:
    """What the surface adds to a session whose names are `namespace` and whose runs `interrupts` may end."""

    def __init__(self, namespace, interrupts):
        self._namespace = namespace
        self._interrupts = interrupts
        self._servers = None
        self._discovered = None
        self._knows_saved = False

    def begin_run(self, surface, source):
        """Prepares for a program: `surface` says which servers are `loaded`, and which are `discovered` at all."""
        loaded.begin_run(surface["loaded"])
        imports.lead_to(runtime, servers)
        if self._servers is None:
            self._install()
        if self._servers != surface["loaded"]:
            self._servers = surface["loaded"]
            self._show()
        discovered = surface.get("discovered", ())
        if self._discovered != discovered:
            self._discovered = discovered
            environ["MCP_DISCOVERED_SERVERS"] = _listed(discovered)
        if not self._knows_saved:
            self._knows_saved = saving.find()
        saving.define_named(source, self._namespace, self._interrupts)

    def end_run(self):
        """Frees what is of use to one run only."""
        loaded.end_run()

    def _install(self):
        raise_as(BridgeError)
        results.install()
        names.replace(_NAMES, servers)
        imports.leave_to_programs("tools", "servers")
        # There is no other place for files, and it is the session's own.
        places.use_scratch(places.WORKSPACE)
        environ["HOME"] = places.WORKSPACE

    def _show(self):
        """Tells the program which servers are loaded, wherever it may look."""
        names.assign("LOADED_MCP_SERVERS", loaded.names())
        found = [f"mcp_{server['alias']}" for server in self._servers]
        # A server called `servers` is an item of `mcp_servers`, and not in its place.
        names.bind_bridge([name for name in found if name not in _NAMES], self._namespace)
        environ["MCP_AVAILABLE_SERVERS"] = _listed(self._servers)


def leave(scratch):
    """Takes back what a session has changed in this process, where the directory for scratch files was `scratch`."""
    raise_as(ToolError)
    results.uninstall()
    names.install()
    places.use_scratch(scratch)
    loaded.begin_run(())
    saving.forget()


def _listed(entries):
    """Names and aliases as JSON that fits into a variable."""
    listed = [{"name": entry["name"], "alias": entry["alias"]} for entry in entries]
    text = json.dumps(listed)
    while len(text) > _LONGEST_VARIABLE:
        listed = listed[: len(listed) * _LONGEST_VARIABLE // len(text)]
        text = json.dumps(listed)
    return text
