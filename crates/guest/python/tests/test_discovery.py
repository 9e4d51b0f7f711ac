"""Finding servers and tools: `runtime`, `dir`, docstrings, the files below `/tools`."""

import os

from tests.host import Failed, Guest, GuestCase, upstream

_SCHEMA = {"type": "object"}


class Runtime(GuestCase):
    def test_ways_to_reach_it(self):
        for code in ("from mcp import runtime", "import mcp.runtime as runtime", "runtime", "runtime = mcp.runtime"):
            self.check(f"{code}\nruntime.discovered_servers()", ["stub", "My-Stub"])
            self.check("globals().pop('runtime', None)\nNone")
        self.check("from mcp.runtime import list_servers_sync, MCPError\nlist_servers_sync()", ["My-Stub", "stub"])

    def test_servers(self):
        self.check(
            "runtime.discovered_servers(detailed=True)",
            [{"name": "stub", "description": "Stub server"}, {"name": "My-Stub", "description": None}],
        )
        self.check("isinstance(runtime.discovered_servers(), tuple)", True)
        self.check("await runtime.list_servers()", ["My-Stub", "stub"])
        self.check("runtime.list_servers_sync()", ["My-Stub", "stub"])
        self.check(
            "list(LOADED_MCP_SERVERS), 'stub' in LOADED_MCP_SERVERS, len(LOADED_MCP_SERVERS), LOADED_MCP_SERVERS[0]",
            [["My-Stub", "stub"], True, 2, "My-Stub"],
        )
        self.check(
            "list(mcp_servers), 'stub' in mcp_servers, 'x' in mcp_servers, len(mcp_servers), mcp_servers.get('x')",
            [["stub", "My-Stub"], True, False, 2, None],
        )
        self.check("[repr(server) for _, server in mcp_servers.items()]", ["<server stub>", "<server My-Stub>"])

    def test_docs(self):
        brief = {
            "server": "stub",
            "serverAlias": "stub",
            "tool": "add",
            "toolAlias": "add",
            "description": "The tool add.",
        }
        self.check("await runtime.query_tool_docs('stub', tool='add')", brief)
        self.check("await runtime.query_tool_docs('stub', 'add', detail='full')", {**brief, "inputSchema": _SCHEMA})
        self.check("(await runtime.query_tool_docs('stub'))[1]", brief)
        self.check("runtime.query_tool_docs_sync('My-Stub')[2]['toolAlias']", "list_things")
        self.check("runtime.query_tool_docs_sync('stub', tool='list_things')['tool']", "list-things")
        self.check("runtime.query_tool_docs_sync('stub') == await runtime.query_tool_docs('stub')", True)
        self.check_error(
            "runtime.query_tool_docs_sync('stub', tool='nope')", "MCPError", "Tool 'nope' not found for server stub"
        )
        self.check_error(
            "runtime.query_tool_docs_sync('stub', tool=5)", "MCPError", "'tool' must be a string when provided"
        )
        self.check_error("await runtime.query_tool_docs('nope')", "MCPError", "Server 'nope' is not available")

    def test_search(self):
        self.check(
            "[(h.server, h.tool, h['signature']) for h in runtime.search('echo')]",
            [["stub", "echo", "echo(message: str)"]],
        )
        self.check("h = runtime.search('echo')\nh.more, h.pending", [3, ["My-Stub"]])
        self.check("[h.tool for h in await runtime.search('echo')]", ["echo"])
        self.check("(await runtime.search_tool_docs('echo', limit=3))[0]['toolAlias']", "echo")
        self.check("runtime.search_tool_docs_sync('echo', detail='full')[0]['inputSchema']", _SCHEMA)
        self.assertEqual([args["limit"] for name, args in self.guest.calls if name == "search"], [5, 5, 5, 3, 5])
        self.check("len(await runtime.search_tool_docs('echo', limit=500))", 1)
        self.assertEqual([args["limit"] for name, args in self.guest.calls if name == "search"][-1], 20)
        self.check("runtime.search_tools('echo') == runtime.search('echo'), runtime.search('echo').nearest", [True, []])
        # The host decides which limits it accepts.
        for limit in (0, 10_000):
            self.check(f"len(runtime.search_tools('echo', limit={limit!r})) <= 1", True)
            self.assertEqual([args["limit"] for name, args in self.guest.calls if name == "search"][-1], limit)
        self.check_error("runtime.search('')", "MCPError", "Missing 'query' value")

    def test_browsing(self):
        self.check("[server['name'] for server in runtime.servers()]", ["stub", "My-Stub"])
        self.check("[tool['name'] for tool in runtime.tools('stub')][:2]", ["echo", "add"])
        self.check("runtime.describe('stub.add')['server'], runtime.describe('stub.add')['tool']", ["stub", "add"])
        self.check("runtime.describe('my_stub.list_things')['tool']", "list-things")
        self.check("runtime.describe('stub', 'add') == runtime.describe('stub.add')", True)
        self.check("runtime.describe('stub.add')['inputSchema']", _SCHEMA)
        self.check_error("runtime.describe('stub.nope')", "MCPError", "'stub/nope'", "did you mean 'echo'?")
        self.check_error("runtime.describe('nope')", "MCPError", "'nope' is not a tool name")
        self.check_error("runtime.describe(5)", "MCPError", "'tool' must be a string")
        self.check_error("runtime.tools('')", "MCPError", "requires a server name")

    def test_tools_of_a_server(self):
        tool = {
            "name": "list-things",
            "alias": "list_things",
            "description": "The tool list-things.",
            "input_schema": _SCHEMA,
        }
        self.check("(await runtime.list_tools('stub'))[2]", tool)
        self.check("runtime.list_tools_sync('stub')[2]", tool)
        self.check_error("runtime.list_tools_sync()", "MCPError", "list_tools_sync(server) requires a server name")
        self.check(
            "d = runtime.describe_server('stub')\nd['name'], d['alias'], len(d['tools']), d['cwd'], d['description']",
            ["stub", "stub", 3, None, "Stub server"],
        )
        self.check(
            "[(m['name'], m['alias'], len(m['tools'])) for m in runtime.list_loaded_server_metadata()]",
            [["stub", "stub", 3], ["My-Stub", "my_stub", 3]],
        )
        self.check(
            "mcp_stub.list_tools(), mcp_stub.TOOLS, mcp_my_stub.TOOL_MAP['list_things']",
            [["echo", "add", "list_things"], ["echo", "add", "list-things"], "list-things"],
        )

    def test_a_server_that_does_not_start_hides_no_other(self):
        def answer(name, args):
            if name == "tools" and args["server"] == "stub":
                raise Failed("upstream", "server 'stub' does not start")
            return upstream(name, args)

        guest = self.own_guest(answer=answer)
        self.check(
            "[(m['name'], len(m['tools']), m.get('error')) for m in runtime.list_loaded_server_metadata()]",
            [["stub", 0, "server 'stub' does not start"], ["My-Stub", 3, None]],
            guest=guest,
        )
        self.check("dir(tools.stub), tools.stub.__doc__", [[], None], guest=guest)

    def test_call_tool(self):
        self.check("await runtime.call_tool('stub', 'add', {'a': 1, 'b': 2})", {"sum": 3})
        self.check("await runtime.call_tool('stub', 'echo')", "")
        self.check_error("await runtime.call_tool('stub', '')", "MCPError", "Missing tool name")
        self.check_error("await runtime.call_tool('stub', 'add', [1])", "MCPError", "Arguments must be an object")
        self.check_error("await runtime.call_tool('stub', 'fail')", "ToolError", "failed")

    def test_manuals(self):
        self.check("runtime.manual()", "The manual.\nAll of it.")
        self.check("runtime.capability_summary().splitlines()[0]", "--- PYTHON SANDBOX MANUAL ---")
        self.check("issubclass(runtime.MCPError, RuntimeError), runtime.ToolError is ToolError", [True, True])

    def test_documented_program(self):
        outcome = self.guest.run("""
from mcp import runtime
print("known:", runtime.discovered_servers())
print("cached:", runtime.list_servers_sync())
print("callable now:", await runtime.list_servers())
meta = runtime.list_loaded_server_metadata()
print("metadata:", [(m["name"], m["alias"], len(m["tools"])) for m in meta])
name = meta[0]["name"]
for tool in runtime.describe_server(name)["tools"]:
    print(" ", tool["alias"], "-", tool.get("description", ""))
brief = await runtime.query_tool_docs(name)
full = await runtime.query_tool_docs(name, tool=brief[0]["toolAlias"], detail="full")
print("brief has schema:", "inputSchema" in brief[0], "| full has schema:", "inputSchema" in full)
print("same from cache:", runtime.query_tool_docs_sync(name) == brief, len(runtime.list_tools_sync(name)))
hits = await runtime.search_tool_docs("echo", limit=3)
print("hits:", [(h["server"], h["tool"]) for h in hits])
print("hits from cache:", runtime.search_tool_docs_sync("echo") != [])
print(runtime.capability_summary().splitlines()[0])
""")
        self.assertIsNone(outcome.error, outcome)
        self.assertIn(b"brief has schema: False | full has schema: True\nsame from cache: True 3\n", outcome.stdout)


class Names(GuestCase):
    def test_dir(self):
        self.check("dir(tools)", ["my_stub", "stub"])
        self.check("dir(tools.stub)", ["add", "echo", "list_things"])
        self.check("tools.stub.__all__", ["echo", "add", "list_things"])

    def test_iteration_names_what_there_is(self):
        self.check("[*tools], len(tools)", [["stub", "my_stub"], 2])
        self.check("'stub' in tools, 'My-Stub' in tools, 'nothing' in tools", [True, True, False])
        self.check("[*tools.stub], len(tools.stub)", [["echo", "add", "list_things"], 3])
        self.check("'list-things' in tools.stub, 'nothing' in tools.stub", [True, False])
        self.check("[name for name in tools if 'add' in tools[name]]", ["stub", "my_stub"])
        self.check("bool(tools), bool(tools.stub), repr(tools), repr(tools.stub)", [True, True, "<servers of tools>", "<server stub>"])

    def test_docstrings(self):
        self.check("tools.stub.add.__doc__", "add(message: str)\n\nThe tool add.")
        self.check("tools.stub.__doc__", "Stub server")
        self.check("tools.stub.nope.__doc__ is None", True)

    def test_star_imports(self):
        self.check("from mcp.servers.my_stub import *\nawait list_things()", ["a", "b"])
        self.check("from tools.stub import *\nawait echo(message='s')", "s")
        self.check("from servers.stub import *\necho(message='b')", "b")


class Names(GuestCase):
    def test_an_import_of_what_is_not_there_fails(self):
        for code, told in (
            ("from tools import anything", "there is no server 'anything'; the servers are stub, my_stub"),
            ("from tools import stubb", "there is no server 'stubb'; did you mean 'stub'?"),
            ("import tools.nothing", "there is no server 'nothing'"),
            ("from servers import nothing", "there is no server 'nothing'"),
            ("from tools.stub import ecko", "stub has no tool 'ecko'; did you mean 'echo'?"),
            ("import tools.stub.zzz", "stub has no tool 'zzz'; its tools are echo, add, list_things"),
        ):
            error = self.guest.run(code).error
            self.assertEqual(error["kind"], "ImportError", code)
            self.assertIn(told, error["message"])

    def test_an_import_of_what_is_there_works_in_each_spelling(self):
        code = "from tools import stub, my_stub\nfrom tools.stub import echo, list_things\nimport tools.stub.add\n"
        self.check(code + "repr(echo), repr(my_stub)", ["<tool tools.stub.echo>", "<server my_stub>"])

    def test_a_tool_that_is_called_without_its_server_is_named(self):
        error = self.guest.run("await tools.echo()").error
        self.assertEqual((error["kind"], error["message"]), ("TypeError", "tools.echo is not a tool; write tools.stub.echo(...)"))
        error = self.guest.run("await tools.stub()").error
        self.assertEqual(error["message"], "tools.stub is a server, not a tool; list its tools with dir(tools.stub)")
