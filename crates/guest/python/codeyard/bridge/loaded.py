"""The servers loaded for this run and their tools, requested at most once a run."""

import re

from codeyard.calls import host, host_async
from codeyard.proxies import Directory

_servers = ()  # `{name, alias}`, sorted by name
_answers = {}


def begin_run(servers):
    global _servers
    _servers = servers
    _answers.clear()


def end_run():
    """Frees the servers' answers, which may be large; the next run requests them again."""
    _answers.clear()


def servers():
    """`{name, alias}` of each loaded server, sorted by name."""
    return _servers


def names():
    return tuple(server["name"] for server in _servers)


def find(name):
    """The loaded server of this name, alias or spelling (`my-stub`, `my_stub`, `My-Stub`); `None` if unknown."""
    by_name = (server for server in _servers if server["name"] == name)
    by_alias = (server for server in _servers if server["alias"] == name)
    return next(by_name, None) or next(by_alias, None) or _spelled(name)


def _spelled(name):
    """The only loaded server with this name in any spelling, by the host's rule."""
    if not isinstance(name, str):
        return None
    spelling = _spelling(name)
    found = [server for server in _servers if _spelling(server["name"]) == spelling]
    return found[0] if len(found) == 1 else None


def _spelling(name):
    return re.sub("[^a-z0-9_]+", "_", name.lower())


def hint(name):
    """How to load a server."""
    return f'pass servers=["{name}"]'


def answer(name):
    """A server with all details of its tools, from the host."""
    key = _key(name)
    # Look up only once: a thread may outlive the run, whose end clears the answers.
    found = _answers.get(key)
    if found is None:
        found = _answers[key] = host("tools", server=name, detail="full")
    return found


async def answer_async(name):
    """Awaits the answer."""
    key = _key(name)
    found = _answers.get(key)
    if found is None:
        found = _answers[key] = await host_async("tools", server=name, detail="full")
    return found


def _key(name):
    server = find(name)
    return name if server is None else server["name"]


def described(answer):
    """A server in the helpers' form: `{name, alias, description, tools, cwd}`."""
    return {
        "name": answer["name"],
        "alias": answer["alias"],
        "description": answer.get("description") or "",
        "tools": tools_of(answer),
        "cwd": answer.get("cwd"),
    }


def tools_of(answer):
    """A server's tools in the helpers' form: `{name, alias, description, input_schema}` each."""
    return [
        {
            "name": tool["name"],
            "alias": tool["alias"],
            "description": tool.get("description") or "",
            "input_schema": tool.get("inputSchema") or {},
        }
        for tool in answer["tools"]
    ]


class LoadedDirectory(Directory):
    """A directory of the loaded servers only; calls report the errors of other servers."""

    def check_server(self, name):
        pass

    def check_tool(self, server, name):
        pass

    def servers(self):
        return servers()

    def server(self, name):
        return answer(name)
