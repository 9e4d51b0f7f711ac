"""The surface `bridge` in a session: names and environment variables of its programs.

Each run may load other servers; a server object from an earlier run checks again.

`MCP_AVAILABLE_SERVERS` lists the loaded servers, `MCP_DISCOVERED_SERVERS` all servers: JSON lists
of `{name, alias}`. A list that is too long for a variable is shortened.
"""

import json
from os import environ

from codeyard import imports, names, places
from codeyard.bridge import loaded, results, runtime, saving
from codeyard.bridge.proxies import mcp_servers, servers
from codeyard.errors import BridgeError, ToolError, raise_as

# Linux limits a variable to 128 KiB, and all together to a few MiB.
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
    """The surface's additions to a session with these names (`namespace`), whose runs `interrupts` may end."""

    def __init__(self, namespace, interrupts):
        self._namespace = namespace
        self._interrupts = interrupts
        self._servers = None
        self._discovered = None
        self._knows_saved = False

    def begin_run(self, surface, source):
        """Prepares for a program; `surface` names the `loaded` and all `discovered` servers."""
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
        """Frees the resources of this run."""
        loaded.end_run()

    def _install(self):
        raise_as(BridgeError)
        results.install()
        names.replace(_NAMES, servers)
        imports.leave_to_programs("tools", "servers")
        # The session's own directory, the only place for files.
        places.use(scratch=places.WORKSPACE, own_place=places.WORKSPACE)
        environ["HOME"] = places.WORKSPACE

    def _show(self):
        """Updates every place that names the loaded servers."""
        names.assign("LOADED_MCP_SERVERS", loaded.names())
        found = [f"mcp_{server['alias']}" for server in self._servers]
        # A server called `servers` is an item of `mcp_servers` and does not replace it.
        names.bind_bridge([name for name in found if name not in _NAMES], self._namespace)
        environ["MCP_AVAILABLE_SERVERS"] = _listed(self._servers)


def leave(scratch, own_place):
    """Undoes a session's changes of this process; the arguments are what `places.use` replaced."""
    raise_as(ToolError)
    results.uninstall()
    names.install()
    places.use(scratch, own_place)
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
