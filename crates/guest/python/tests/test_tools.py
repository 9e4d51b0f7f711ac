"""Tools: every form of access, arguments, forgotten awaits."""

from tests.host import GuestCase


class Access(GuestCase):
    def check_call(self, code, result, server, tool, args):
        self.guest.calls.clear()
        self.check(code, result)
        calls = [call for call in self.guest.calls if call[0] == "tool"]
        self.assertEqual(calls, [("tool", {"server": server, "tool": tool, "args": args})])

    def test_every_form(self):
        args = {"a": 1, "b": 2}
        for code in (
            "await tools.stub.add(a=1, b=2)",
            "await tools.stub.add({'a': 1, 'b': 2})",
            "await tools['stub']['add'](a=1, b=2)",
            "await tools['stub'].add(a=1, b=2)",
            "await mcp_stub.add(a=1, b=2)",
            "def f():\n    return mcp_stub.add(a=1, b=2)\nawait f()",
            "await mcp_servers['stub'].add(a=1, b=2)",
            "await mcp.servers.stub.add(a=1, b=2)",
            "from mcp.servers.stub import *\nawait add(a=1, b=2)",
            "from mcp.servers.stub import add\nawait add(a=1, b=2)",
            "from mcp.servers import stub\nawait stub.add(a=1, b=2)",
            "import mcp.servers.stub as s\nawait s.add(a=1, b=2)",
            "import tools\nawait tools.stub.add(a=1, b=2)",
            "import tools.stub\nawait tools.stub.add(a=1, b=2)",
            "import tools.stub.add\nawait tools.stub.add(a=1, b=2)",
            "from tools import stub\nawait stub.add(a=1, b=2)",
            "from tools.stub import add\nawait add(a=1, b=2)",
            "from tools.stub.add import add\nawait add(a=1, b=2)",
            "from tools.stub.add import *\nawait add(a=1, b=2)",
            "await __toolcall__('stub', 'add', {'a': 1, 'b': 2})",
            "from servers.stub import add\nadd(a=1, b=2)",
            "from servers.stub import add\nadd({'a': 1, 'b': 2})",
            "import servers.stub\nservers.stub.add(a=1, b=2)",
            "from servers import stub\nstub.add(a=1, b=2)",
            "servers.stub.add(a=1, b=2)",
            "from mcp import runtime\nawait runtime.call_tool('stub', 'add', {'a': 1, 'b': 2})",
        ):
            with self.subTest(code):
                self.check_call(code, {"sum": 3}, "stub", "add", args)

    def test_bare_tool_name(self):
        self.check_call("await __toolcall__('echo', {'message': 'x'})", "x", "", "echo", {"message": "x"})

    def test_a_declared_tool_is_called(self):
        declared = (
            "from mcp.stubs import tool\n@tool('stub', 'add')\nasync def plus(*, a: int, b: int = ...) -> int:\n"
            "    'Adds.'\n"
        )
        for call in ("await plus(a=1, b=2)", "await plus({'a': 1, 'b': 2})"):
            with self.subTest(call):
                self.check_call(declared + call, {"sum": 3}, "stub", "add", {"a": 1, "b": 2})
        self.check(declared + "plus.__name__, plus.__doc__", ["plus", "Adds."])

    def test_names_are_resolved_by_the_host(self):
        for code in (
            "await tools['My-Stub']['list-things']()",
            "await tools.my_stub.list_things()",
            "from tools.my_stub.list_things import list_things\nawait list_things()",
            "await mcp_my_stub.list_things()",
            "await mcp_servers['My-Stub'].list_things({})",
        ):
            with self.subTest(code):
                self.check(code, ["a", "b"])

    def test_arguments(self):
        self.check("await tools.stub.args()", {"args": {}})
        self.check("await tools.stub.args(None)", {"args": {}})
        self.check(
            "import datetime, decimal, pathlib\n"
            "await tools.stub.args(d=datetime.date(2020, 1, 2), n=None, t=(1, 2), s={3}, p=pathlib.Path('/x'), f=float('nan'))",
            {"args": {"d": "2020-01-02", "n": None, "t": [1, 2], "s": [3], "p": "/x", "f": None}},
        )
        self.check("(await tools.stub.args({'from': 'a', 'with-hyphen': 1})).args", {"from": "a", "with-hyphen": 1})
        self.check(
            "r = await tools.stub.args(x={'a': 1})\nawait tools.stub.args(r)", {"args": {"args": {"x": {"a": 1}}}}
        )

    def test_mistakes_in_arguments(self):
        self.check_error("await tools.stub.add(1, 2)", "TypeError", "keyword arguments or one mapping")
        self.check_error("await tools.stub.add('x')", "TypeError", "one mapping")
        self.check_error("await tools.stub.add({'a': 1}, b=2)", "TypeError", "one mapping")
        self.check_error("await tools.stub.add(a=object())", "TypeError", "'a'", "object")
        self.check_error("await tools.stub.add({1: 2})", "TypeError", "names of arguments")
        self.check_error("x = []\nx.append(x)\nawait tools.stub.add(a=x)", "ValueError", "'a'", "contains itself")
        self.check_error(
            "x = []\nfor _ in range(500): x = [x]\nawait tools.stub.add(a=x)", "ValueError", "deeper than 100"
        )
        self.assertEqual(self.guest.calls, [])

    def test_calls_in_modules_of_the_program(self):
        self.check("open('m.py', 'w').write('async def f():\\n    return await tools.stub.add(a=1, b=2)\\n')", 57)
        self.check("import m\nawait m.f()", {"sum": 3})

    def test_probing_makes_no_calls(self):
        self.check(
            "[hasattr(x, n) for x in (tools, tools.stub, tools.stub.add, mcp) for n in ('__wrapped__', '_repr_html_')]",
            [False] * 8,
        )
        self.check("import copy, inspect\ninspect.isawaitable(tools.stub), callable(tools.stub.add)", [False, True])
        self.assertEqual(self.guest.calls, [])

    def test_unknown_modules(self):
        self.check_error("import mcp.client", "ModuleNotFoundError", "mcp.client")
        self.check_error("from tools.stub.add import other", "ImportError", "other")

    def test_shown(self):
        self.check(
            "[repr(x) for x in (tools.stub.add, tools.stub, mcp_stub.add)]",
            ["<tool tools.stub.add>", "<server stub>", "<tool mcp_stub.add>"],
        )


class Unawaited(GuestCase):
    def test_reported_with_tool_and_line(self):
        self.check_error(
            "x = 1\ntools.stub.add(a=1, b=2)\nprint('end')",
            "UnawaitedCall",
            "tools.stub.add",
            "line 2",
            "await tools.stub.add",
        )
        self.check_error("mcp_stub.add(a=1, b=2)", "UnawaitedCall", "mcp_stub.add")
        self.check_error("return tools.stub.add(a=1, b=2)", "UnawaitedCall", "tools.stub.add")
        self.check_error("r = [tools.stub.echo() for _ in range(3)]", "UnawaitedCall", "and 2 more")
        self.check_error("def f():\n    x = tools.stub.echo()\n\nf()", "UnawaitedCall", "line 2")
        self.assertEqual(self.guest.calls, [])

    def test_other_errors_go_first(self):
        self.check_error("tools.stub.echo()\n1/0", "ZeroDivisionError")
        self.check("1", 1)

    def test_awaited_in_any_way_is_fine(self):
        for code in (
            "import asyncio\nt = asyncio.create_task(tools.stub.echo(message='x'))\nawait t",
            "f = asyncio.ensure_future(tools.stub.echo(message='x'))\nawait f",
            "(await asyncio.gather(tools.stub.echo(message='x')))[0]",
            "await asyncio.wait_for(tools.stub.echo(message='x'), 5)",
            "await asyncio.shield(tools.stub.echo(message='x'))",
            "c = tools.stub.echo(message='x')\nawait c",
            "async def f():\n    return await tools.stub.echo(message='x')\nawait f()",
            "done, _ = await asyncio.wait([asyncio.ensure_future(tools.stub.echo(message='x'))])\ndone.pop().result()",
            "for f in asyncio.as_completed([tools.stub.echo(message='x')]):\n    r = await f\nr",
        ):
            with self.subTest(code):
                self.check("import asyncio\n" + code, "x")
        self.check("import asyncio\nasyncio.run(tools.stub.echo(message='x'))", "x")

    def test_task_group(self):
        import sys

        if sys.version_info >= (3, 11):
            self.check(
                "import asyncio\nasync with asyncio.TaskGroup() as g:\n"
                "    t = [g.create_task(tools.stub.echo(message=str(n))) for n in range(3)]\n[x.result() for x in t]",
                [0, 1, 2],
            )

    def test_awaited_twice(self):
        self.check_error("c = tools.stub.echo(message='x')\nawait c\nawait c", "RuntimeError", "awaited before")

    def test_closed_on_purpose(self):
        self.check("c = tools.stub.echo()\nc.close()")
        self.check(
            "import asyncio\nt = asyncio.create_task(tools.stub.echo())\nt.cancel()\nawait asyncio.sleep(0)\nt.cancelled()",
            True,
        )
