"""Servers and tools as Python objects: three trees of names that the host resolves when a tool is called.

A server or a tool is at once an attribute, an item and an importable module, so that `tools.crm.find`,
`tools["crm"]["find"]` and `from tools.crm.find import find` are the same object.
"""

from types import ModuleType

import re
import sys
from difflib import get_close_matches

from codeyard import files
from codeyard.calls import ToolCall, arguments_of, call_blocking, host
from codeyard.errors import ToolError, UnknownName
from codeyard.values import bridge, native

# Attributes that a tool file takes from its function.
_OF_FUNCTIONS = ("__signature__", "__name__")

# Prefixes that libraries probe on any object; a host call for them would be a surprise.
_PROBED = ("__", "_repr_", "_ipython_", "_jupyter_", "_fields")


# Spellings of the servers that the host named for this run; `None` if it named none.
_known = None


def know_servers(names):
    """Remembers the servers' names, so that an unknown name fails where it is written."""
    global _known
    _known = None if names is None else frozenset(map(_spelling, names))


def is_server(name):
    """Whether the host named a server with this spelling."""
    return bool(name) and _known is not None and _spelling(name) in _known


class Directory:
    """Where the names of servers and tools come from: the host."""

    def check_server(self, name):
        """Raises UnknownName if no server has the name, in any spelling."""
        if files.has_server(name):
            return
        entries = self.servers()
        if all(_spelling(name) not in (_spelling(entry["name"]), _spelling(entry["alias"])) for entry in entries):
            raise UnknownName(_no_server(name, [entry["alias"] for entry in entries]), name, kind="unknown_tool")

    def check_tool(self, server, name):
        """Raises UnknownName if the server has no such tool. A server that cannot answer fails at its calls."""
        if files.find(server, name) is not None:
            return
        entries = _quietly(lambda: self.server(server)["tools"], None)
        if entries is None:
            return
        if all(_spelling(name) not in (_spelling(entry["name"]), _spelling(entry["alias"])) for entry in entries):
            names = [entry["alias"] for entry in entries]
            message = f"{server} has no tool {name!r}; {_nearest(name, names, 'its tools')}"
            raise UnknownName(message, server, name, kind="unknown_tool")

    def servers(self):
        """All servers: `{name, alias, description}`."""
        return host("servers")

    def server(self, name):
        """One server with its `tools`: `{name, alias, description, signature}`."""
        return host("tools", server=name, detail="summary")


class Flavour:
    """How the tools of a tree are found and called, and the form of their results."""

    def __init__(self, prefix, wrap, blocking=False, returns_errors=False, directory=None):
        self.prefix = prefix
        self.wrap = wrap
        self.blocking = blocking
        self.returns_errors = returns_errors  # If false, a tool's error is raised.
        self.directory = directory or Directory()

    def tools_of(self, server):
        """The tools of a server."""
        return self.directory.server(server)["tools"]


class Tool:
    """One tool. Takes keyword arguments or one mapping."""

    def __init__(self, flavour, server, tool):
        self._flavour = flavour
        self._server = server
        self._tool = tool
        self._label = f"{flavour.prefix}{server}.{tool}" if server else tool

    def given(self, arguments):
        """Calls the tool with one mapping of arguments."""
        if isinstance(arguments, dict) and all(type(name) is str for name in arguments):
            return self(**arguments)
        return self(arguments)

    def __call__(self, /, *positional, **named):
        file = files.find(self._server, self._tool)
        if file is None:
            if positional:
                files.check_present(self._server, self._tool)
            arguments = arguments_of(self._label, positional, named)
        else:
            file = files.Call(file, self._label, positional, named)
            arguments = file.told
        flavour = self._flavour
        if flavour.blocking:
            return call_blocking(self._server, self._tool, arguments, flavour, file)
        return ToolCall(self._label, self._server, self._tool, arguments, flavour, file)

    def __getattr__(self, name):
        # As a module, a tool contains itself: `from tools.crm.find import find`.
        if name == self._tool:
            return self
        if name == "__all__":
            return [self._tool]
        file = files.find(self._server, self._tool) if name in _OF_FUNCTIONS else None
        if file is not None:
            return file.of_function(name)
        raise AttributeError(f"{self._label} has no attribute {name!r}; it is a tool: call it")

    @property
    def __doc__(self):
        for entry in self._flavour.tools_of(self._server):
            if self._tool in (entry["name"], entry["alias"]):
                return "\n\n".join(filter(None, (entry.get("signature"), entry.get("description"))))
        return None

    def __repr__(self):
        return f"<tool {self._label}>"


class Server(ModuleType):
    """One server: its tools are attributes and items."""

    def __init__(self, flavour, name):
        super().__init__(f"{flavour.prefix}{name}")
        self.__dict__.update(_flavour=flavour, _server=name, __path__=[])

    def __getattr__(self, name):
        if name == "__all__":
            return [entry["alias"] for entry in self._flavour.tools_of(self._server)]
        if name.startswith(_PROBED):
            raise AttributeError(name)
        if _is_imported():
            self.check(name)
        return self[name]

    def check(self, name):
        """Raises UnknownName if there is no such tool."""
        self._flavour.directory.check_tool(self._server, name)

    def __call__(self, *args, **named):
        raise TypeError(_tool_of_no_server(self._flavour, self._server))

    def __getitem__(self, name):
        tool = self.__dict__.get(name)
        if not isinstance(tool, Tool):
            tool = Tool(self._flavour, self._server, name)
            self.__dict__.setdefault(name, tool)
        return tool

    # Otherwise Python would iterate over the items 0, 1, 2 and so on, each of them a tool.

    def __iter__(self):
        return iter(self.__all__)

    def __len__(self):
        return len(self.__all__)

    def __contains__(self, name):
        return any(name in (entry["name"], entry["alias"]) for entry in self._flavour.tools_of(self._server))

    def __bool__(self):
        return True  # Truth must not cost a host call.

    def __dir__(self):
        return _quietly(lambda: self.__all__)

    @property
    def __doc__(self):
        return self._description()

    def _description(self):
        return _quietly(lambda: self._flavour.directory.server(self._server).get("description"), None)

    def __repr__(self):
        return f"<server {self._server}>"


class BridgeServer(Server):
    """One server of `mcp_<alias>`, with the helpers of such a module."""

    def list_tools(self):
        """The aliases of its tools."""
        return tuple(self.__all__)

    def __getattr__(self, name):
        if name == "TOOLS":
            return [entry["name"] for entry in self._flavour.tools_of(self._server)]
        if name == "TOOL_MAP":
            return {entry["alias"]: entry["name"] for entry in self._flavour.tools_of(self._server)}
        return super().__getattr__(name)


class Servers(ModuleType):
    """All servers: each is an attribute and an item."""

    def __init__(self, name, flavour, make=Server):
        super().__init__(name, "All servers: each is an attribute and an item.")
        self.__dict__.update(_flavour=flavour, _make=make, __path__=[])

    def __getattr__(self, name):
        if name == "__all__":
            return [entry["alias"] for entry in self._flavour.directory.servers()]
        if name.startswith(_PROBED):
            raise AttributeError(name)
        is_unknown = _known is not None and _spelling(name) not in _known
        if is_unknown or _is_imported():
            self.check(name)
        return self[name]

    def check(self, name):
        """Raises UnknownName if there is no such server."""
        self._flavour.directory.check_server(name)

    def __getitem__(self, name):
        server = self.__dict__.get(name)
        if not isinstance(server, Server):
            server = self._make(self._flavour, name)
            self.__dict__.setdefault(name, server)
        return server

    # As above: iteration yields the existing names.

    def __iter__(self):
        return iter(self.__all__)

    def __len__(self):
        return len(self.__all__)

    def __contains__(self, name):
        return any(name in (entry["name"], entry["alias"]) for entry in self._flavour.directory.servers())

    def __bool__(self):
        return True

    def __dir__(self):
        return _quietly(lambda: self.__all__)

    def __repr__(self):
        return f"<servers of {self.__name__}>"


class ServerMap:
    """`mcp_servers`: the servers by their configured names."""

    def __init__(self, servers):
        self._servers = servers

    def _entries(self):
        return self._servers._flavour.directory.servers()

    def __getitem__(self, name):
        return self._servers[name]

    def get(self, name, default=None):
        return self._servers[name] if name in self else default

    def __iter__(self):
        return iter([entry["name"] for entry in self._entries()])

    def __len__(self):
        return len(self._entries())

    def __contains__(self, name):
        return any(name in (entry["name"], entry["alias"]) for entry in self._entries())

    def keys(self):
        return list(self)

    def values(self):
        return [self[name] for name in self]

    def items(self):
        return [(name, self[name]) for name in self]

    def __repr__(self):
        return "<mcp_servers>"


class ServerNames:
    """`LOADED_MCP_SERVERS`: a tuple of names, requested from the host at each use."""

    def _names(self):
        return tuple(sorted(entry["name"] for entry in host("servers")))

    def __iter__(self):
        return iter(self._names())

    def __len__(self):
        return len(self._names())

    def __getitem__(self, index):
        return self._names()[index]

    def __contains__(self, name):
        return name in self._names()

    def __repr__(self):
        return repr(self._names())


def _spelling(name):
    return re.sub(r"\W", "_", name).lower()


def _is_imported():
    """Whether `from ... import` requests the attribute. An import should fail where a call would."""
    return sys._getframe(2).f_code.co_name == "_handle_fromlist"


def _nearest(name, names, what):
    near = get_close_matches(name, names, 1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"{what} are {', '.join(names[:20])}" if names else "there are none"


def _no_server(name, aliases):
    tool = _tool_named(name)
    if tool is not None:
        return f"there is no server {name!r}; write tools.{tool}"
    return f"there is no server {name!r}; {_nearest(name, aliases, 'the servers')}"


def _tool_of_no_server(flavour, name):
    tool = _tool_named(name)
    if tool is not None:
        return f"{flavour.prefix}{name} is not a tool; write {flavour.prefix}{tool}(...)"
    return f"{flavour.prefix}{name} is a server, not a tool; list its tools with dir({flavour.prefix}{name})"


def _tool_named(name):
    """The tool that a program named without its server, as `server.tool`; `None` if unknown."""
    try:
        hits = host("search", query=name.replace("_", " "), limit=5, detail="name")["tools"]
    except (ToolError, KeyError, TypeError):
        return None
    found = (hit for hit in hits if _spelling(hit["tool"]) == _spelling(name))
    return next((f"{_spelling(hit['server'])}.{_spelling(hit['tool'])}" for hit in found), None)


def _quietly(ask, otherwise=()):
    """`dir` and `__doc__` must not raise."""
    try:
        return ask()
    except ToolError:
        return otherwise


def call_mcp_tool(tool, /, *parts, **named):
    """`call_mcp_tool("server__tool", params)`, or with both names and `params`: calls a tool and waits for its result."""
    if parts and isinstance(parts[0], str):
        server, tool, parts = tool, parts[0], parts[1:]
    else:
        server, found, tool = tool.partition("__")
        if not found:
            raise TypeError('call_mcp_tool takes ("server__tool", params) or (server, tool, params)')
    if len(parts) > 1 or parts and named:
        raise TypeError("call_mcp_tool takes one mapping of arguments, or keyword arguments, and not both")
    return servers[server][tool].given(*parts) if parts else servers[server][tool](**named)


def toolcall(*parts):
    """`__toolcall__(tool, args)` or `__toolcall__(server, tool, args)`: the tool by its written name."""
    arguments = {}
    if parts and not isinstance(parts[-1], str):
        *parts, arguments = parts
    if not 1 <= len(parts) <= 2 or not all(isinstance(part, str) for part in parts):
        raise TypeError("__toolcall__ takes (tool, args) or (server, tool, args)")
    server, tool = parts if len(parts) == 2 else ("", parts[0])
    return Tool(_TOOLS, server, tool).given(arguments)


_TOOLS = Flavour("tools.", native)
_BRIDGE = Flavour("mcp_", bridge)
_BLOCKING = Flavour("servers.", native, blocking=True)


def use_results(wrap):
    """Sets the form of results of the trees `tools` and `servers`."""
    _TOOLS.wrap = _BLOCKING.wrap = wrap


tools = Servers("tools", _TOOLS)
servers = Servers("servers", _BLOCKING)
bridge_servers = Servers("mcp.servers", _BRIDGE, BridgeServer)
mcp_servers = ServerMap(bridge_servers)
loaded_servers = ServerNames()
