"""Helpers of the surface `bridge`: finding servers and tools, documents, the manual."""

import time

from tests.bridge_host import SCHEMA, TOOLS, BridgeCase
from tests.host import Failed


class Servers(BridgeCase):
    def test_discovered(self):
        # C303
        self.shows(
            "print(runtime.discovered_servers(detailed=True))",
            "({'name': 'stub', 'description': 'Stub server'}, {'name': 'other', 'description': ''}, "
            "{'name': 'My-Stub', 'description': 'Another'})",
        )
        self.assertEqual(self.made("tools") + self.made("tool"), [])

    def test_loaded(self):
        self.load("stub", "My-Stub")
        self.shows(
            "print(await runtime.list_servers(), runtime.list_servers_sync())",
            "('My-Stub', 'stub') ('My-Stub', 'stub')",
        )
        self.load()
        self.shows("print(await runtime.list_servers(), runtime.list_servers_sync())", "() ()")
        self.assertEqual(self.made("servers"), [])

    def test_described(self):
        # C318
        self.shows(
            "d = runtime.describe_server('stub')\nprint(list(d), d['name'], d['alias'], d['cwd'], d['description'], d['tools'][0])",
            "['name', 'alias', 'description', 'tools', 'cwd'] stub stub /tmp/stubcwd Stub server "
            f"{ {**_plain(TOOLS[0]), 'input_schema': SCHEMA} }",
        )
        self.load("stub", "My-Stub")
        self.shows(
            "print(runtime.describe_server('my_stub')['name'], runtime.describe_server('My-Stub')['cwd'])",
            "My-Stub None",
        )
        self.shows(
            "print([(m['name'], len(m['tools'])) for m in runtime.list_loaded_server_metadata()])",
            "[('My-Stub', 4), ('stub', 4)]",
        )
        self.shows("print(runtime.list_loaded_server_metadata()[1] == runtime.describe_server('stub'))", "True")

    def test_one_that_does_not_start_hides_no_other(self):
        guest = self.session(loaded=("stub", "My-Stub"))
        host = guest.answer

        def answer(name, args):
            if name == "tools" and args["server"] == "stub":
                raise Failed("upstream", "server 'stub' does not start")
            return host(name, args)

        guest.answer = answer
        self.shows(
            "print([(m['name'], len(m['tools']), m.get('error')) for m in runtime.list_loaded_server_metadata()])",
            "[('My-Stub', 4, None), ('stub', 0, \"server 'stub' does not start\")]",
            guest=guest,
        )
        self.shows("print([h['server'] for h in await runtime.search_tool_docs('echo')])", "['My-Stub']", guest=guest)
        self.shows("print([h['server'] for h in runtime.search_tool_docs_sync('echo')])", "['My-Stub']", guest=guest)
        self.shows("print(dir(mcp_stub), mcp_stub.__doc__)", "[] None", guest=guest)
        guest.surface, host.loaded = {"name": "bridge", "loaded": [{"name": "stub", "alias": "stub"}]}, ("stub",)
        self.fails("await runtime.search_tool_docs('echo')", "MCPError", "does not start", guest=guest)
        self.fails("runtime.describe_server('stub')", "MCPError", "does not start", guest=guest)

    def test_not_loaded(self):
        # C309, C305
        for name in ("other", "nope", "stub "):
            for call in (
                f"call_tool({name!r}, 'echo', {{'message': 'x'}})",
                f"query_tool_docs({name!r})",
                f"list_tools({name!r})",
            ):
                self.fails(
                    f"await runtime.{call}", "MCPError", f"Server '{name}' is not available", f'servers=["{name}"]'
                )
            for call in ("query_tool_docs_sync", "list_tools_sync", "describe_server"):
                self.fails(
                    f"runtime.{call}({name!r})", "MCPError", f"Server '{name}' is not loaded", f'servers=["{name}"]'
                )
        self.load()
        self.fails(
            "await runtime.call_tool('stub', 'echo', {'message': 'x'})", "MCPError", "Server 'stub' is not available"
        )
        self.shows(
            "try: runtime.describe_server('stub')\nexcept (RuntimeError) as e: print(e.kind, e.server, isinstance(e, ToolError))",
            "not_loaded stub True",
        )


class Docs(BridgeCase):
    def test_documents(self):
        # C305
        brief = {
            "server": "stub",
            "serverAlias": "stub",
            "tool": "echo",
            "toolAlias": "echo",
            "description": "Gives a text back.",
        }
        self.shows(
            "print((await runtime.query_tool_docs('stub'))[0], len(runtime.query_tool_docs_sync('stub')))", f"{brief} 4"
        )
        full = {**brief, "inputSchema": SCHEMA}
        for tool in ("echo", "ECHO"):
            self.shows(f"print(await runtime.query_tool_docs('stub', tool='{tool}', detail='full'))", full)
            self.shows(f"print(runtime.query_tool_docs_sync('stub', '{tool}', detail='FULL'))", [full])
        for detail in ("'weird'", "None", "5", "'summary'"):
            self.shows(f"print(await runtime.query_tool_docs('stub', 'echo', detail={detail}))", brief)
        self.shows("print((await runtime.query_tool_docs('stub', tool='list_things'))['tool'])", "list-things")
        self.shows("print('description' in runtime.query_tool_docs_sync('stub')[1])", "False")
        for call in ("await runtime.query_tool_docs", "runtime.query_tool_docs_sync"):
            self.fails(f"{call}('stub', tool='nope')", "MCPError", "Tool 'nope' not found for server stub")
            self.fails(f"{call}('stub', tool=5)", "MCPError", "'tool' must be a string when provided")

    def test_tools(self):
        tool = {**_plain(TOOLS[2]), "input_schema": SCHEMA}
        self.shows("t = await runtime.list_tools('stub')\nprint(type(t).__name__, len(t), t[2])", f"tuple 4 {tool}")
        self.shows("print(runtime.list_tools_sync('stub') == await runtime.list_tools('stub'))", "True")
        for call, name in (("await runtime.list_tools", "list_tools"), ("runtime.list_tools_sync", "list_tools_sync")):
            for server in ("", "None", "''", "5"):
                self.fails(f"{call}({server})", "MCPError", f"{name}(server) requires a server name")

    def test_search(self):
        # C306
        for call in ("await runtime.search_tool_docs", "runtime.search_tool_docs_sync"):
            for query in ("echo stub", "ECHO", "gives TEXT", "echo"):
                self.shows(f"print([h['tool'] for h in {call}('{query}')])", "['echo']")
            self.shows(f"print([h['toolAlias'] for h in {call}('stub', limit=2)])", "['echo', 'add']")
            self.shows(
                f"print(len({call}('stub', limit=0)), len({call}('stub', limit=None)), len({call}('stub', limit=-7)))",
                "1 4 1",
            )
            self.shows(f"print(({call}('echo', detail='full'))[0]['inputSchema'] == {SCHEMA})", "True")
            for limit in ("'x'", "'5'", "2.5", "True"):
                self.fails(f"{call}('echo', limit={limit})", "MCPError", "'limit' must be an integer")
            self.fails(f"{call}(None)", "MCPError", "Missing 'query' value")
        for query in ("''", "' \\n'"):
            self.fails(f"await runtime.search_tool_docs({query})", "MCPError", "Missing 'query' value")
            self.shows(f"print(runtime.search_tool_docs_sync({query}))", "[]")

    def test_search_clamps(self):
        guest = self.session()
        guest.answer.tools = [{"name": f"t{n}", "alias": f"t{n}", "description": "many"} for n in range(30)]
        self.shows("print(len(await runtime.search_tool_docs('many', limit=100)))", "20", guest=guest)
        self.shows("print(len(runtime.search_tool_docs_sync('many', limit=100)))", "20", guest=guest)

    def test_search_gives_names_before_descriptions_and_nothing_where_a_word_is_missing(self):
        guest = self.session(loaded=("stub",))
        guest.answer.tools = [
            {"name": "list", "alias": "list", "description": "All issues that are open."},
            {"name": "close-issue", "alias": "close_issue", "description": "Ends one."},
            {"name": "issues", "alias": "issues", "description": "A list."},
        ]
        for query, hits in (
            ("issue", ["close-issue", "issues", "list"]),
            ("LIST issues", ["list", "issues"]),
            ("issue ends", ["close-issue"]),
            ("enumerate", []),
            ("issue enumerate", []),
            ("stub list", ["list", "issues"]),
        ):
            for call in ("await runtime.search_tool_docs", "runtime.search_tool_docs_sync"):
                self.shows(f"print([h['tool'] for h in {call}({query!r})])", hits, guest=guest)
        self.assertEqual([name for name, _ in guest.calls if name == "search"], [])
        self.load()
        self.shows("print(await runtime.search_tool_docs('echo'), runtime.search_tool_docs_sync('echo'))", "[] []")

    def test_asked_once_in_a_run(self):
        self.shows(
            "for _ in range(3):\n    runtime.list_tools_sync('stub'); runtime.describe_server('stub'); mcp_stub.TOOLS; mcp_stub.echo.__doc__\n"
            "    runtime.search_tool_docs_sync('echo'); await runtime.query_tool_docs('stub'); await runtime.list_tools('stub')\n"
            "from mcp.servers.stub import *"
        )
        self.assertEqual(self.made("tools"), [{"server": "stub", "detail": "full"}])
        self.shows("runtime.list_tools_sync('stub')")
        self.assertEqual(len(self.made("tools")), 2)

    def test_many_large_tools(self):
        # C377
        guest = self.session()
        schema = {
            "type": "object",
            "properties": {f"p{n}": {"type": "string", "description": "d" * 60} for n in range(20)},
        }
        guest.answer.tools = [
            {"name": f"t{n}", "alias": f"t{n}", "description": "x", "inputSchema": schema} for n in range(3000)
        ]
        guest.run("1")
        start = time.monotonic()
        self.shows("print(len(runtime.list_tools_sync('stub')))", "3000", guest=guest)
        self.assertLess(time.monotonic() - start, 10)

    def test_call_tool(self):
        self.shows("print(await runtime.call_tool('stub', 'add', {'a': 1, 'b': 2}))", "{'sum': 3}")
        self.shows("print(repr(await runtime.call_tool('stub', 'echo')))", "''")
        for tool in ("''", "None", "5"):
            self.fails(f"await runtime.call_tool('stub', {tool})", "MCPError", "Missing tool name")
        self.fails("await runtime.call_tool('stub', 'add', [1])", "MCPError", "Arguments must be an object")
        self.fails("await runtime.call_tool('', 'add')", "MCPError", "requires a server name")


class Manual(BridgeCase):
    def test_summary(self):
        # C308
        self.shows(
            "s = runtime.capability_summary()\nprint(len(s) < 2000, 'PYTHON SANDBOX MANUAL' in s)\n"
            "print([w for w in ('discovered_servers', 'servers=[', 'mcp_<alias>', 'save_tool', 'save_memory', '/workspace') if w not in s])",
            "True True",
            "[]",
        )

    def test_all_that_it_names_is_there(self):
        code = (
            "import re\nnames = set(re.findall(r'[a-z_]{5,}(?=\\()', runtime.capability_summary())) - {'gather'}\n"
            "print([n for n in sorted(names) if not hasattr(runtime, n)], len(names) > 10)\n"
            "print([n for n in runtime.__all__ if not hasattr(runtime, n)])"
        )
        self.shows(code, "[] True", "[]")


def _plain(tool):
    return {"name": tool["name"], "alias": tool["alias"], "description": tool["description"]}
