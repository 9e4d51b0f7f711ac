"""Helpers to find servers and tools from a program, and to keep things for later: `from mcp import runtime`.

Those that end in `_sync` answer at once for servers that are loaded; the others are awaited.
"""

import asyncio

from codeyard import places
from codeyard.bridge import loaded
from codeyard.bridge.memory import (
    delete_memory,
    get_memory_info,
    list_memories,
    load_memory,
    memory_exists,
    save_memory,
    update_memory,
)
from codeyard.bridge.proxies import servers as _servers
from codeyard.bridge.saving import save_tool
from codeyard.calls import host
from codeyard.errors import BridgeError as MCPError
from codeyard.errors import RefusedError, ToolError

__all__ = [
    "MCPError",
    "RefusedError",
    "ToolError",
    "call_tool",
    "capability_summary",
    "delete_memory",
    "describe_server",
    "discovered_servers",
    "get_memory_info",
    "list_loaded_server_metadata",
    "list_memories",
    "list_servers",
    "list_servers_sync",
    "list_tools",
    "list_tools_sync",
    "load_memory",
    "memory_exists",
    "query_tool_docs",
    "query_tool_docs_sync",
    "save_memory",
    "save_tool",
    "search_tool_docs",
    "search_tool_docs_sync",
    "update_memory",
]

_MOST_FOUND = 20
_FOUND = 5

_SUMMARY = """--- PYTHON SANDBOX MANUAL ---
1. SESSION: variables, imports and functions stay from call to call. Only what is printed is returned, and \
figures. Top-level `await` works.
2. DISCOVER: `runtime.discovered_servers()` names all servers, `discovered_servers(detailed=True)` describes them. \
A call reaches those in its argument `servers=["name"]`; for them `runtime.search_tool_docs_sync("words")`, \
`query_tool_docs_sync("server", detail="full")`, `list_tools_sync("server")`, `describe_server("server")` (with its \
`cwd`). Without `_sync` they are awaited.
3. CALL: loaded servers are proxies: `await mcp_<alias>.<tool>(key=value)`, `mcp_servers["name"]`, \
`from mcp.servers.<alias> import *`, `await runtime.call_tool("server", "tool", {...})`. A result is the value that it \
stands for (text, list, dict) and has `["content"]`, `["structuredContent"]`, `["isError"]`. What a tool reports as an \
error is returned; other failures raise MCPError. `asyncio.gather` runs calls at once.
4. KEEP: `save_tool(func)` gives a function to later sessions; `save_memory(key, value)`, \
`load_memory(key, default=None)`, `update_memory(key, fn)`, `list_memories()`, `delete_memory(key)`, \
`memory_exists(key)`, `get_memory_info(key)` keep JSON values.
5. FILES: /workspace (current directory) and /tmp, gone with the session. No network."""


def capability_summary():
    """The manual."""
    return _SUMMARY.replace("/workspace", places.WORKSPACE)


def discovered_servers(detailed=False):
    """The names of all servers, loaded or not; with `detailed` also their descriptions. Starts no server."""
    entries = host("servers")
    if detailed:
        return tuple({"name": entry["name"], "description": entry.get("description") or ""} for entry in entries)
    return tuple(entry["name"] for entry in entries)


async def list_servers():
    """The names of the loaded servers, sorted."""
    return loaded.names()


def list_servers_sync():
    """The same, blocking."""
    return loaded.names()


async def query_tool_docs(server, tool=None, detail="summary"):
    """Descriptions of a server's tools; with `tool` only that tool. `detail="full"` adds the schemas."""
    _check_tool(tool)
    answer = await loaded.answer_async(_named(server, "query_tool_docs"))
    docs = _docs(answer, tool, detail)
    return docs if tool is None else docs[0]


def query_tool_docs_sync(server, tool=None, detail="summary"):
    """The same, blocking; always a list."""
    _check_tool(tool)
    return _docs(_answer(server, "query_tool_docs_sync"), tool, detail)


async def search_tool_docs(query, *, limit=_FOUND, detail="summary"):
    """Tools of the loaded servers that match all words, best first, in the form of `query_tool_docs`."""
    words, limit = _words(query), _limit(limit)
    if not words:
        raise MCPError("Missing 'query' value", kind="invalid_arguments")
    asked = [loaded.answer_async(name) for name in loaded.names()]
    answers = _answered(await asyncio.gather(*asked, return_exceptions=True))
    return _found(answers, words, limit, detail)


def search_tool_docs_sync(query, *, limit=_FOUND, detail="summary"):
    """The same, blocking; empty for an empty query."""
    words, limit = _words(query), _limit(limit)
    if not words:
        return []
    return _found(_answered([_attempted(name) for name in loaded.names()]), words, limit, detail)


async def list_tools(server=None):
    """The tools of a server: `{name, alias, description, input_schema}` each."""
    return tuple(loaded.tools_of(await loaded.answer_async(_named(server, "list_tools"))))


def list_tools_sync(server=None):
    """The same, blocking."""
    return tuple(loaded.tools_of(_answer(server, "list_tools_sync")))


def describe_server(name):
    """A loaded server: `{name, alias, description, tools, cwd}`; `cwd` is `None` if none is configured."""
    return loaded.described(_answer(name, "describe_server"))


def list_loaded_server_metadata():
    """Every loaded server as in `describe_server`. A server that cannot start has an `error`, no tools."""
    described = []
    for server in loaded.servers():
        answer = _attempted(server["name"])
        if isinstance(answer, ToolError):
            described.append({**loaded.described({**server, "tools": []}), "error": str(answer)})
        else:
            described.append(loaded.described(answer))
    return tuple(described)


async def call_tool(server, tool, arguments=None):
    """Calls a tool by its names."""
    if not isinstance(tool, str) or not tool:
        raise MCPError("Missing tool name", kind="invalid_arguments")
    if arguments is not None and not isinstance(arguments, dict):
        raise MCPError("Arguments must be an object", kind="invalid_arguments")
    return await _servers[_named(server, "call_tool")][tool](arguments or {})


def _named(server, function):
    """Checks the name given for a server."""
    if not isinstance(server, str) or not server:
        raise MCPError(f"{function}(server) requires a server name", kind="invalid_arguments")
    return server


def _answer(server, function):
    if loaded.find(_named(server, function)) is None:
        raise MCPError(f"Server '{server}' is not loaded", server, kind="not_loaded", hint=loaded.hint(server))
    return loaded.answer(server)


def _attempted(name):
    """The server's answer, or the failure."""
    try:
        return loaded.answer(name)
    except ToolError as error:
        return error


def _answered(attempts):
    """The successful attempts: a server that cannot start hides no other."""
    answers = [attempt for attempt in attempts if not isinstance(attempt, BaseException)]
    for attempt in attempts:
        if isinstance(attempt, BaseException) and (not answers or not isinstance(attempt, ToolError)):
            raise attempt
    return answers


def _check_tool(tool):
    if tool is not None and not isinstance(tool, str):
        raise MCPError("'tool' must be a string when provided", kind="invalid_arguments")


def _words(query):
    if not isinstance(query, str):
        raise MCPError("Missing 'query' value", kind="invalid_arguments")
    return query.lower().split()


def _limit(limit):
    if limit is None:
        return _FOUND
    if not isinstance(limit, int) or isinstance(limit, bool):
        raise MCPError("'limit' must be an integer", kind="invalid_arguments")
    return max(1, min(limit, _MOST_FOUND))


def _docs(answer, tool, detail):
    if tool is None:
        return [_doc(answer, entry, detail) for entry in answer["tools"]]
    wanted = tool.lower()
    for entry in answer["tools"]:
        if wanted in (entry["name"].lower(), entry["alias"].lower()):
            return [_doc(answer, entry, detail)]
    raise MCPError(f"Tool '{tool}' not found for server {answer['name']}", answer["name"], tool, kind="unknown_tool")


def _doc(server, tool, detail):
    doc = {"server": server["name"], "serverAlias": server["alias"], "tool": tool["name"], "toolAlias": tool["alias"]}
    if tool.get("description"):
        doc["description"] = tool["description"]
    if isinstance(detail, str) and detail.lower() == "full":
        doc["inputSchema"] = tool.get("inputSchema") or {}
    return doc


def _found(answers, words, limit, detail):
    """Tools that match all words, most words in the tool's own name first, then in the order of servers."""
    found = [
        (_fitting(words, tool["name"], tool["alias"]), answer, tool)
        for answer in answers
        for tool in answer["tools"]
        if _fits(answer, tool, words)
    ]
    found.sort(key=lambda hit: -hit[0])
    return [_doc(answer, tool, detail) for _, answer, tool in found[:limit]]


def _fits(server, tool, words):
    parts = (server["name"], server["alias"], tool["name"], tool["alias"], tool.get("description") or "")
    return _fitting(words, *parts) == len(words)


def _fitting(words, *parts):
    """The number of words found in one of these texts."""
    text = " ".join(parts).lower()
    return sum(word in text for word in words)
