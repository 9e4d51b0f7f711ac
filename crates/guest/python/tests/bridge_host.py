"""The test host of the surface `bridge`: loaded and other servers, and a store that sessions share."""

import re

from tests.host import NULL, Failed, Guest, GuestCase, upstream

SERVERS = [
    {"name": "stub", "alias": "stub", "description": "Stub server", "listed": True, "cwd": "/tmp/stubcwd"},
    {"name": "other", "alias": "other", "description": None, "listed": False},
    {"name": "My-Stub", "alias": "my_stub", "description": "Another", "listed": False},
]

# A server whose `mcp_<alias>` is also another name.
_NAMED_SERVERS = {"name": "servers", "alias": "servers", "description": None}

SCHEMA = {"type": "object", "properties": {"message": {"type": "string"}}}

TOOLS = [
    {"name": "echo", "alias": "echo", "description": "Gives a text back.", "signature": "echo(message: str)"},
    {"name": "add", "alias": "add", "signature": "add(a: int, b: int)"},
    {"name": "list-things", "alias": "list_things", "description": "Lists all things."},
    {"name": "fail", "alias": "fail", "description": "Fails."},
]


def surface(*names, discovered=SERVERS):
    """The `surface` field of a run with these servers loaded, and with all discovered servers."""
    loaded = [{"name": name, "alias": _spelled(name)} for name in sorted(names)]
    discovered = [{"name": server["name"], "alias": server["alias"]} for server in discovered]
    return {"name": "bridge", "loaded": loaded, "discovered": discovered}


def _spelled(name):
    return re.sub("[^a-z0-9_]+", "_", name.lower())


class Store:
    """One principal's stored items."""

    def __init__(self):
        self.tools = {}
        self.memory = {}


class Host:
    """Answers one session's host calls. `loaded` are the names that its run may reach."""

    def __init__(self, store=None):
        self.store = store or Store()
        self.loaded = ()
        self.tools = TOOLS

    def __call__(self, name, args):
        own = getattr(self, f"_{name}", None)
        return own(**args) if own else upstream(name, args)

    def _check(self, server):
        for entry in (*SERVERS, _NAMED_SERVERS):
            if _spelled(server) in (_spelled(entry["name"]), entry["alias"]) and entry["name"] in self.loaded:
                return entry
        raise Failed("not_loaded", f"Server '{server}' is not available", hint=f'pass servers=["{server}"]')

    def _servers(self):
        return SERVERS

    def _tools(self, server, detail):
        entry = self._check(server)
        tools = [dict(tool) for tool in self.tools]
        for tool in tools:
            tool.setdefault("inputSchema", SCHEMA)
        return {key: entry[key] for key in ("name", "alias", "description", "cwd") if entry.get(key)} | {"tools": tools}

    def _tool(self, server, tool, args):
        self._check(server)
        return upstream("tool", {"server": "stub", "tool": tool, "args": args})

    def _save_tool(self, name, source):
        if name == "refused":
            raise Failed("refused", "the store holds 500 tools; remove one with `codeyard saved`")
        self.store.tools[name] = source
        return {}

    def _saved_tools(self):
        return [{"name": name, "source": source} for name, source in self.store.tools.items()]

    def _memory_save(self, key, value, metadata, version=None):
        if not key or len(key) > 100:
            raise Failed("refused", "a memory's key has 1 to 100 characters")
        old = self.store.memory.get(key)
        if version is not None and version != (old["version"] if old else 0):
            raise Failed("conflict", "the memory has been changed")
        now = "2026-01-01T00:00:00Z"
        new = {"key": key, "value": value, "metadata": metadata, "created_at": now, "updated_at": now, "bytes": 9}
        self.store.memory[key] = {**new, "version": old["version"] + 1 if old else 1}
        return {"version": self.store.memory[key]["version"]}

    def _memory_load(self, key, head=False):
        entry = self.store.memory.get(key)
        if entry is None:
            return NULL
        return {name: entry[name] for name in entry if not (head and name == "value")}

    def _memory_delete(self, key):
        return {"deleted": self.store.memory.pop(key, None) is not None}

    def _memory_list(self):
        shown = ("key", "metadata", "created_at", "updated_at", "bytes")
        return [{name: entry[name] for name in shown} for _, entry in sorted(self.store.memory.items())]


class BridgeCase(GuestCase):
    """Test cases that share one session of the surface `bridge`, with the server `stub` loaded."""

    @classmethod
    def setUpClass(cls):
        cls.guest = start(Host())

    def setUp(self):
        super().setUp()
        self.load("stub")

    def load(self, *names, guest=None):
        """Loads these servers for later runs."""
        guest = guest or self.guest
        guest.answer.loaded = names
        guest.surface = surface(*names)

    def session(self, store=None, loaded=("stub",), **options):
        """Another session; the same store means the same principal."""
        guest = start(Host(store), **options)
        self.addCleanup(guest.close)
        self.load(*loaded, guest=guest)
        return guest

    def shows(self, code, *lines, stderr="", guest=None):
        """Runs a program that must complete without a result and print these lines."""
        outcome = (guest or self.guest).run(code)
        self.assertIsNone(outcome.error, outcome)
        self.assertFalse(outcome.has_result, outcome)
        self.assertEqual(outcome.stdout.decode().splitlines(), [str(line) for line in lines])
        self.assertEqual(outcome.stderr.decode(), stderr)
        return outcome

    def fails(self, code, kind, *parts, guest=None):
        """Runs a program that must fail with this kind of error; its message or traceback contain `parts`."""
        return self.check_error(code, kind, *parts, guest=guest)

    def made(self, name):
        """Arguments of the shared session's calls of this name in this test."""
        return [args for called, args in self.guest.calls if called == name]


def start(host, **options):
    """Starts a session of the surface `bridge`."""
    return Guest(answer=host, surface=surface(), **options)
