"""Helpers to find servers and tools from a program: `from mcp import runtime`."""

from codeyard import host_places, kept, places
from codeyard.calls import host, host_async, last_raw
from codeyard.errors import MCPError, ToolError
from codeyard.proxies import tools as _tools

__all__ = [
    "MCPError",
    "ToolError",
    "call_tool",
    "capability_summary",
    "describe",
    "describe_server",
    "discovered_servers",
    "host_path",
    "last_raw",
    "list_loaded_server_metadata",
    "list_servers",
    "list_servers_sync",
    "list_tools",
    "list_tools_sync",
    "manual",
    "path",
    "query_tool_docs",
    "query_tool_docs_sync",
    "result",
    "results",
    "search",
    "search_tool_docs",
    "search_tool_docs_sync",
    "search_tools",
    "servers",
    "tools",
]

_SUMMARY = """--- PYTHON SANDBOX MANUAL ---
Programs run in a persistent session: variables, imports and files stay from run to run. Top-level `await` and \
`return` work. Tools: `await tools.<server>.<tool>(key=value)`, the same as `await mcp_<alias>.<tool>(key=value)`, or \
blocking after `from servers.<server> import <tool>`; results are Python values and the raw result is at `.raw`; \
failures raise ToolError. Find tools with `runtime.search_tools("words")`, `runtime.servers()`, \
`runtime.tools("server")`, `runtime.describe("server.tool")`; `runtime.manual()` says everything. Files: /workspace (current directory), \
/scratch, /results (shown to the user), /tools (stubs). No network."""

_MOVED = """ This sandbox cannot mount: write runtime.path("/results/a.png") for each path that begins with one of these."""


class Hits(list):
    """Tools found, best first; none where no tool does what is asked, then `nearest` has those that come nearest.

    `more` counts those left out, `pending` names servers that have not answered yet.
    """

    more = 0
    nearest = ()
    pending = ()

    def __await__(self):
        return self
        yield


def manual():
    """The long manual."""
    return host("manual")["text"]


def capability_summary():
    """The short manual, one paragraph."""
    return _SUMMARY + (_MOVED if places.MOVED else "")


def path(place):
    """The real path of a path such as `/results/a.png`; it differs only in a sandbox that cannot mount."""
    return places.actual(place)


def host_path(path):
    """The host path of a file in /workspace, /results or a mounted folder: the path to pass to tools."""
    return host_places.host_path(path)


def result(name=None):
    """A result too large to show, as returned by its program: `runtime.result("r3")`; without a name the newest."""
    return kept.current().get(name)


def results():
    """The results that this session keeps, the oldest first: `{name, type, size}`."""
    return kept.current().listing()


def search(query, limit=5, detail="summary"):
    """Tools that do what some words say, best first: `{server, tool, signature, description, score}`.

    `detail="full"` gives a `stub` with parameters, result and description in the place of these.
    """
    return _hits(_ask("search", query=_checked(query), limit=limit, detail=detail))


search_tools = search


def servers():
    """Every server: `{name, alias, description, listed}`. Starts no server; `listed` says whether its tools are known."""
    return list(host("servers"))


def tools(server):
    """The tools of a server in its order: `{name, alias, description, signature}`. Starts the server if needed."""
    _check_server(server, "tools")
    return _ask("tools", server=server, detail="summary")["tools"]


def describe(tool, name=None):
    """One tool, as `"server.tool"` or as two names: its signature, whole description and schemas."""
    _check_tool(tool)
    _check_tool(name)
    asked = {"tool": tool} if name is None else {"server": tool, "tool": name}
    described = _ask("describe", **asked)
    return {"server": described["server"], "tool": described["tool"].pop("name"), **described["tool"]}


def discovered_servers(detailed=False):
    """The names of all servers; with `detailed` also their descriptions. Starts no server."""
    entries = host("servers")
    if detailed:
        return tuple({"name": entry["name"], "description": entry.get("description")} for entry in entries)
    return tuple(entry["name"] for entry in entries)


async def list_servers():
    """The names of the servers that this session may call, sorted."""
    return tuple(sorted(entry["name"] for entry in await host_async("servers")))


def list_servers_sync():
    """The same, blocking."""
    return tuple(sorted(discovered_servers()))


async def query_tool_docs(server, tool=None, detail="summary"):
    """Descriptions of a server's tools; with `tool` only that tool. `detail="full"` adds the schemas."""
    _check_tool(tool)
    return _docs(await _ask_async("tools", server=server, detail="full"), tool, detail)


def query_tool_docs_sync(server, tool=None, detail="summary"):
    """The same, blocking."""
    _check_tool(tool)
    return _docs(_ask("tools", server=server, detail="full"), tool, detail)


async def search_tool_docs(query, *, limit=5, detail="summary"):
    """Tools of all servers that match the words, in the form of `query_tool_docs`."""
    hits = _hits(await _ask_async("search", **_search_args(query, limit, "summary")))
    full = {hit["server"]: await _ask_async("tools", server=hit["server"], detail="full") for hit in hits}
    return _hit_docs(hits, full, detail)


def search_tool_docs_sync(query, *, limit=5, detail="summary"):
    """The same, blocking."""
    hits = _hits(_ask("search", **_search_args(query, limit, "summary")))
    full = {hit["server"]: _ask("tools", server=hit["server"], detail="full") for hit in hits}
    return _hit_docs(hits, full, detail)


async def list_tools(server=None):
    """The tools of a server: `{name, alias, description, input_schema}` each."""
    _check_server(server, "list_tools")
    return tuple(_described(await _ask_async("tools", server=server, detail="full"))["tools"])


def list_tools_sync(server=None):
    """The same, blocking."""
    _check_server(server, "list_tools_sync")
    return tuple(_described(_ask("tools", server=server, detail="full"))["tools"])


def describe_server(name):
    """A server with its tools: `{name, alias, description, tools, cwd}`."""
    return _described(_ask("tools", server=name, detail="full"))


def list_loaded_server_metadata():
    """Every server as in `describe_server`. A server that cannot start has an `error`, no tools."""
    described = []
    for entry in host("servers"):
        try:
            described.append(describe_server(entry["name"]))
        except MCPError as error:
            described.append({**_described({**entry, "tools": []}), "error": str(error)})
    return tuple(described)


async def call_tool(server, tool, arguments=None):
    """Calls a tool by its names."""
    if not isinstance(tool, str) or not tool:
        raise MCPError("Missing tool name")
    if arguments is not None and not isinstance(arguments, dict):
        raise MCPError("Arguments must be an object")
    return await _tools[server][tool].given(arguments or {})


def _ask(name, /, **args):
    try:
        return host(name, **args)
    except ToolError as error:
        raise MCPError(str(error)) from None


async def _ask_async(name, /, **args):
    try:
        return await host_async(name, **args)
    except ToolError as error:
        raise MCPError(str(error)) from None


def _check_tool(tool):
    if tool is not None and not isinstance(tool, str):
        raise MCPError("'tool' must be a string when provided")


def _check_server(server, function):
    if not server:
        raise MCPError(f"{function}(server) requires a server name")


def _search_args(query, limit, detail):
    if not isinstance(limit, int) or isinstance(limit, bool):
        raise MCPError("'limit' must be an integer")
    return {"query": _checked(query), "limit": max(1, min(limit, 20)), "detail": detail}


def _checked(query):
    if not isinstance(query, str) or not query.strip():
        raise MCPError("Missing 'query' value")
    return query


def _hits(answer):
    hits = Hits(answer["tools"])
    hits.more = answer.get("more", 0)
    hits.nearest = tuple(answer.get("nearest") or ())
    hits.pending = tuple(answer.get("pending") or ())
    return hits


def _described(answer):
    tools = [
        {
            "name": tool["name"],
            "alias": tool["alias"],
            "description": tool.get("description") or "",
            "input_schema": tool.get("inputSchema"),
        }
        for tool in answer["tools"]
    ]
    return {
        "name": answer["name"],
        "alias": answer["alias"],
        "description": answer.get("description") or "",
        "tools": tools,
        "cwd": None,
    }


def _docs(answer, tool, detail):
    docs = [_doc(answer, entry, detail) for entry in answer["tools"]]
    if tool is None:
        return docs
    for doc in docs:
        if tool in (doc["tool"], doc["toolAlias"]):
            return doc
    raise MCPError(f"Tool '{tool}' not found for server {answer['name']}")


def _doc(server, tool, detail):
    doc = {"server": server["name"], "serverAlias": server["alias"], "tool": tool["name"], "toolAlias": tool["alias"]}
    if tool.get("description"):
        doc["description"] = tool["description"]
    if detail == "full":
        doc["inputSchema"] = tool.get("inputSchema")
    return doc


def _hit_docs(hits, servers, detail):
    docs = []
    for hit in hits:
        server = servers[hit["server"]]
        entry = next((tool for tool in server["tools"] if hit["tool"] in (tool["name"], tool["alias"])), None)
        if entry is not None:
            docs.append(_doc(server, entry, detail))
    return docs
