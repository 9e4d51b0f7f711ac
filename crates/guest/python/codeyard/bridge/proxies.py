"""The loaded servers as Python objects: `mcp_<alias>`, `mcp_servers`, `mcp.servers`."""

from codeyard import proxies
from codeyard.bridge import loaded, results


class Listing(list):
    """A server's list of tools; awaiting it is optional."""

    def __await__(self):
        return self
        yield


class LoadedServer(proxies.BridgeServer):
    """One server. Each use checks that the server is loaded: the object may come from an earlier run."""

    @property
    def __doc__(self):
        return self._description()

    def list_tools(self):
        """Its tools: `{name, alias, description, input_schema}` each."""
        return Listing(self.TOOLS)

    def __getattr__(self, name):
        if name == "TOOLS":
            return loaded.tools_of(loaded.answer(self._server))
        if name == "TOOL_MAP":
            return {tool["alias"]: tool for tool in self.TOOLS}
        return super().__getattr__(name)


class LoadedServers(proxies.ServerMap):
    """`mcp_servers`: the loaded servers by configured name, in any spelling."""

    def __contains__(self, name):
        return loaded.find(name) is not None


_FLAVOUR = proxies.Flavour("mcp_", results.value_of, returns_errors=True, directory=loaded.LoadedDirectory())

servers = proxies.Servers("mcp.servers", _FLAVOUR, LoadedServer)
mcp_servers = LoadedServers(servers)
