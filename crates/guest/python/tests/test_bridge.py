"""The surface `bridge`: ways to reach servers, results, what a program finds, how it ends."""

import base64
import json
import os

from tests.bridge_host import SERVERS, BridgeCase, surface
from tests.host import PNG, Guest, upstream


class Access(BridgeCase):
    def test_every_pattern(self):
        # C301
        for code in (
            "r = await mcp_stub.echo(message='a')",
            "r = await mcp_servers['stub'].echo(message='a')",
            "from mcp.servers.stub import *\nr = await echo(message='a')",
            "from mcp.servers.stub import echo\nr = await echo(message='a')",
            "from mcp.servers import stub\nr = await stub.echo({'message': 'a'})",
            "import mcp.servers.stub as s\nr = await s.echo(message='a')",
            "r = await mcp.servers.stub.echo(message='a')",
            "r = await mcp.runtime.call_tool('stub', 'echo', {'message': 'a'})",
            "from mcp import runtime\nr = await runtime.call_tool('stub', 'echo', {'message': 'a'})",
            "import mcp.runtime as runtime\nr = await runtime.call_tool('stub', 'echo', {'message': 'a'})",
            "r = await eval('mcp_stub').echo(message='a')",
            "r = await globals()['mcp_stub'].echo(message='a')",
        ):
            with self.subTest(code):
                self.shows(f"{code}\nprint(r['content'][0]['text'], r['isError'], r == 'a')", "a False True")

    def test_results_stand_for_their_value(self):
        self.shows(
            "r = await mcp_stub.add(a=1, b=2)\nprint(r.sum, r['structuredContent'], r['content'])", "3 {'sum': 3} []"
        )
        self.shows(
            "r = await mcp_stub.json(text='[{\"id\": 1}]')\nprint([item.id for item in r], r.isError)", "[1] False"
        )
        self.shows(
            "r = await mcp_stub.big(bytes=5000000)\nprint(len(r['content'][0]['text']), len(r))", "5000000 5000000"
        )

    def test_keys_of_the_raw_result_go_first(self):
        self.shows(
            "r = await mcp_stub.json(text='{\"content\": \"own\", \"n\": 1}')\n"
            "print(r['content'][0]['type'], r.get('content') == r['content'], r.content, r['n'], r.get('m', 5))\n"
            "print('content' in r, 'n' in r, 'm' in r, dict(r), list(r), r.get('structuredContent', 'none'))",
            "text True own 1 5",
            "True True False {'content': 'own', 'n': 1} ['content', 'n'] none",
        )

    def test_reported_errors_are_returned(self):
        # C342
        for call in ("mcp_stub.fail(message='no')", "runtime.call_tool('stub', 'fail', {'message': 'no'})"):
            self.shows(f"r = await {call}\nprint(r['isError'], r.isError, r['content'][0]['text'])", "True True no")

    def test_failed_calls(self):
        self.fails("await mcp_stub.nope()", "MCPError", "Tool 'stub/nope'", "echo")
        self.fails("await mcp_stub.busy()", "MCPError", "is restarting")
        for kind in ("MCPError", "ToolError", "RuntimeError", "runtime.MCPError"):
            code = f"try:\n    await mcp_stub.busy()\nexcept {kind} as error:\n    print(error.kind, error.retryable, error)"
            self.shows(code, "upstream True server 'stub' is restarting")
        self.shows(
            "import pickle\ntry: await mcp_stub.busy()\nexcept MCPError as e: print(repr(pickle.loads(pickle.dumps(e)).kind))",
            "'upstream'",
        )
        self.fails("mcp_stub.echo(message='x')", "UnawaitedCall", "await mcp_stub.echo")
        self.fails("runtime.call_tool('stub', 'echo')", "UnawaitedCall", "await call_tool()")

    def test_discovery_of_a_proxy(self):
        tool = {"name": "list-things", "alias": "list_things", "description": "Lists all things."}
        for listed in ("mcp_stub.list_tools()", "(await mcp_stub.list_tools())", "mcp_stub.TOOLS"):
            self.shows(f"t = {listed}[2]\nschema = t.pop('input_schema')\nprint(t, schema['type'])", f"{tool} object")
        self.shows("print(mcp_stub.TOOL_MAP['list_things']['name'])", "list-things")
        self.shows(
            "from mcp.servers.stub import TOOLS, TOOL_MAP\nprint(len(TOOLS), list(TOOL_MAP))",
            "4 ['echo', 'add', 'list_things', 'fail']",
        )
        self.shows(
            "print(mcp_stub.__doc__, '|', mcp_stub.echo.__doc__)",
            "Stub server | echo(message: str)",
            "",
            "Gives a text back.",
        )
        self.shows("print(dir(mcp_stub), mcp_stub)", "['add', 'echo', 'fail', 'list_things'] <server stub>")

    def test_loaded_servers(self):
        self.load("stub", "My-Stub")
        self.shows("print(LOADED_MCP_SERVERS, type(LOADED_MCP_SERVERS).__name__)", "('My-Stub', 'stub') tuple")
        self.shows(
            "print(list(mcp_servers), 'stub' in mcp_servers, 'other' in mcp_servers, len(mcp_servers), mcp_servers.get('other'))",
            "['My-Stub', 'stub'] True False 2 None",
        )
        self.shows("print(await mcp_my_stub.list_things(), mcp_servers.keys())", "['a', 'b'] ['My-Stub', 'stub']")
        self.shows("print(dir(mcp.servers))", "['my_stub', 'stub']")
        self.assertEqual(self.made("servers"), [])
        self.load()
        self.shows("print(LOADED_MCP_SERVERS, len(mcp_servers))", "() 0")

    def test_a_server_that_is_called_servers(self):
        guest = self.session(loaded=("servers", "stub"))
        for program in (
            "print(list(mcp_servers), await mcp_servers['servers'].echo(message='x'))",
            "print(list(mcp_servers), await mcp_servers['stub'].echo(message='x'))",
            "from mcp.servers.servers import echo\nprint(list(mcp_servers), await echo(message='x'))",
        ):
            self.shows(program, "['servers', 'stub'] x", guest=guest)

    def test_other_spellings_of_a_server(self):
        guest = self.session(loaded=("My-Stub",))
        for name in ("my-stub", "MY_STUB", "My Stub"):
            for call in ("await mcp_servers[{}].echo(message='x')", "runtime.describe_server({})['name'] and 'x'"):
                self.shows(f"print({call.format(repr(name))}, {name!r} in mcp_servers)", "x True", guest=guest)
        for name in ("my--stub!", "stub", ""):
            self.shows(f"print({name!r} in mcp_servers, mcp_servers.get({name!r}))", "False None", guest=guest)

    def test_servers_change_between_runs(self):
        self.shows("kept = mcp_stub\nkept_tool = mcp_stub.echo\nfrom mcp.servers.stub import echo")
        self.load("My-Stub")
        for call in ("kept.echo()", "kept_tool()", "echo()", "mcp_stub.echo()", "mcp_servers['stub'].echo()"):
            self.fails(f"await {call}", "MCPError", "Server 'stub' is not available", 'servers=["stub"]')
        self.fails("from mcp.servers.stub import *", "MCPError", "Server 'stub' is not available")
        self.shows("print(await mcp_my_stub.echo(message='other'))", "other")
        self.load("stub")
        self.shows("print(await kept.echo(message='back'), await kept_tool(message='again'))", "back again")

    def test_calls_at_once_and_from_threads(self):
        code = "import asyncio\nprint(await asyncio.gather(*[mcp_stub.echo(message=str(n)) for n in range(5)]))"
        self.shows(code, "[0, 1, 2, 3, 4]")
        code = (
            "import asyncio, threading\nfound = []\n"
            "def work(n): found.append(asyncio.run(mcp_stub.echo(message=str(n))))\n"
            "threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]\n"
            "[t.start() for t in threads]\n[t.join() for t in threads]\nprint(sorted(found))"
        )
        self.shows(code, "[0, 1, 2, 3, 4, 5, 6, 7]")


class Names(BridgeCase):
    def test_what_there_is(self):
        # C302
        self.shows("print(runtime.discovered_servers())", "('stub', 'other', 'My-Stub')")
        self.shows("from mcp import runtime\nprint(runtime.discovered_servers())", "('stub', 'other', 'My-Stub')")
        self.shows(
            "print(mcp.runtime is runtime, runtime.save_tool is save_tool, runtime.load_memory is load_memory)",
            "True True True",
        )

    def test_what_other_surfaces_have_is_not_there(self):
        guest = self.session()
        for name in ("tools", "servers", "read_file", "write_file", "list_dir", "__toolcall__"):
            self.fails(name, "NameError", name, guest=guest)
        self.fails("import tools", "ModuleNotFoundError", guest=guest)
        self.shows("import os\nos.mkdir('tools')\nopen('tools/own.py', 'w').write('x = 5')", guest=guest)
        self.shows("from tools.own import x\nprint(x)", "5", guest=guest)

    def test_shadowed_and_deleted(self):
        guest = self.session()
        self.shows("runtime = mcp = mcp_servers = mcp_stub = save_tool = LOADED_MCP_SERVERS = 5", guest=guest)
        self.shows(
            "print(runtime, mcp_stub)\ndel runtime, mcp, mcp_servers, mcp_stub, save_tool, LOADED_MCP_SERVERS",
            "5 5",
            guest=guest,
        )
        self.shows(
            "print(await mcp_stub.echo(message='x'), list(mcp_servers), LOADED_MCP_SERVERS)",
            "x ['stub'] ('stub',)",
            guest=guest,
        )
        self.shows(
            "import sys, mcp as m\nm.runtime = m.servers = None\nfor n in [n for n in sys.modules if n.startswith('mcp')]: del sys.modules[n]",
            guest=guest,
        )
        self.shows(
            "from mcp import runtime\nfrom mcp.servers.stub import echo\nprint(await echo(message='y'))",
            "y",
            guest=guest,
        )

    def test_a_session_of_the_surface_code_has_none_of_it(self):
        guest = Guest(answer=upstream)
        self.addCleanup(guest.close)
        self.check_error("save_tool", "NameError", guest=guest)
        self.check_error("await mcp_stub.fail()", "ToolError", "failed", guest=guest)
        self.check("import os\n'HOME' in os.environ, 'MCP_AVAILABLE_SERVERS' in os.environ", [True, False], guest=guest)
        self.assertNotIn("saved_tools", [name for name, _ in guest.calls])


class Runs(BridgeCase):
    def test_nothing_but_output_counts(self):
        for code in (
            "1 + 1",
            "x = 1\nx",
            "result = {'a': 1}",
            "return 5",
            "await mcp_stub.echo(message='x')",
            "object()",
        ):
            with self.subTest(code):
                self.shows(code)
        self.shows("result = 5")
        self.shows("print(result)\nresult", "5")

    def test_lines_are_kept(self):
        # C290
        self.shows("print('a')\nprint()\nprint(())\nprint('  b  ')", "a", "", "()", "  b  ")

    def test_state_is_kept(self):
        # C297, C300
        self.shows("import math\nx = 41\ndef f(n): return n + x\nclass K: v = 1")
        self.shows("print(f(1), math.pi > 3, K().v)", "42 True 1")
        self.shows(
            "import asyncio\nr = await asyncio.gather(*[asyncio.sleep(0.01, i) for i in range(3)])\nprint(r)",
            "[0, 1, 2]",
        )

    def test_images(self):
        png = f"bytes.fromhex('{PNG.hex()}')"
        outcome = self.shows(png)
        self.assertEqual(base64.b64decode(outcome.content[0]["data"]), PNG)
        self.assertEqual(self.shows(f"return {png}").content[0]["mime"], "image/png")

    def test_exit_status(self):
        # C378
        def check(code, status, output=""):
            outcome = self.guest.run(code)
            self.assertEqual((outcome.error or {}).get("exit"), status, outcome)
            self.assertEqual(outcome.stdout.decode(), output)
            return outcome

        error = check("import sys\nprint('a')\nsys.exit(3)", 3, "a\n").error
        self.assertEqual((error["kind"], error["message"]), ("SystemExit", "exit status 3"))
        check("exit(-1)", 255)
        check("raise SystemExit(True)", 1)
        check("import asyncio, sys\nasync def f(): sys.exit(4)\nawait f()", 4)
        check("import sys\nsys.exit()", None)
        check("import sys\nsys.exit(0)", None)
        self.assertEqual(check("import sys\nsys.exit('stopped')", 1).stderr, b"stopped\n")
        check("1 / 0", None)
        self.shows("print(1)", "1")

    def test_failures(self):
        outcome = self.fails("print('before')\ndef f(): return 1 / 0\nf()", "ZeroDivisionError", "in f", "line 2")
        self.assertEqual(outcome.stdout, b"before\n")
        self.fails("def f(:", "SyntaxError")
        self.fails("async def f(): pass\nf()", "UnawaitedCall", "await f()")

    def test_processes_of_its_own(self):
        code = (
            "import os, sys\npid = os.fork()\nif pid == 0:\n"
            "    try: runtime.list_tools_sync('stub')\n    except MCPError as e: print('child:', e.kind, flush=True)\n"
            "    os._exit(0)\nos.waitpid(pid, 0)\nprint(len(runtime.list_tools_sync('stub')))"
        )
        self.shows(code, "child: denied", "4")

    def test_no_copies_of_long_output(self):
        guest = self.session(output=1000)
        outcome = guest.run("print('x' * 5000)")
        self.assertEqual((len(outcome.stdout), outcome.artifacts), (5001, []))
        self.assertEqual(os.listdir(guest.path("results")), [])

    def test_places_that_are_missing(self):
        guest = self.session(
            prepare="import shutil\nfor name in ('results', 'scratch'): shutil.rmtree(getattr(places, name.upper()))",
            output=100,
        )
        outcome = self.shows("open('a.txt', 'w').write('x' * 50000)\nprint('y' * 200)", "y" * 200, guest=guest)
        self.assertGreater(outcome.disk, 0)

    def test_after_a_rehearsal(self):
        guest = self.session(prepare="runner.warm()")
        guest.answer.store.tools["late"] = "def late(): return 5"
        code = "print(late(), LOADED_MCP_SERVERS, await mcp_stub.echo(message='x'), 'mcp_warm' in globals())"
        self.shows(code, "5 ('stub',) x False", guest=guest)
        self.fails("tools", "NameError", guest=guest)

    def test_a_frame_that_says_nothing_of_servers(self):
        guest = self.session()
        guest.surface = {"name": "bridge"}
        self.check_error("1", "KeyError", "loaded", guest=guest)
        guest.surface = surface()
        self.shows("print(1)", "1", guest=guest)


class Environment(BridgeCase):
    def names(self, variable):
        outcome = self.guest.run(f"import os\nprint(os.environ['{variable}'])")
        self.assertIsNone(outcome.error, outcome)
        return [entry["name"] for entry in json.loads(outcome.stdout)]

    def test_variables(self):
        self.shows("import os\nprint(os.environ['HOME'] == os.path.expanduser('~') == os.getcwd())", "True")
        self.assertEqual(self.names("MCP_AVAILABLE_SERVERS"), ["stub"])
        self.assertEqual(self.names("MCP_DISCOVERED_SERVERS"), ["stub", "other", "My-Stub"])
        self.load("stub", "My-Stub")
        self.assertEqual(self.names("MCP_AVAILABLE_SERVERS"), ["My-Stub", "stub"])
        self.load()
        self.assertEqual(self.names("MCP_AVAILABLE_SERVERS"), [])

    def test_what_there_is_changes(self):
        self.guest.surface = surface("stub", discovered=SERVERS[:1])
        self.assertEqual(self.names("MCP_DISCOVERED_SERVERS"), ["stub"])
        self.guest.surface = surface("stub")
        child = "import subprocess\nsubprocess.run('echo $MCP_DISCOVERED_SERVERS', shell=True)"
        outcome = self.guest.run(child)
        self.assertEqual([server["name"] for server in json.loads(outcome.stdout)], ["stub", "other", "My-Stub"])
        self.assertEqual(self.made("servers"), [])

    def test_only_who_looks_pays(self):
        self.shows("print(1)", "1")
        self.guest.calls.clear()
        self.shows("print(1)", "1")
        self.assertEqual(self.guest.calls, [])

    def test_bounded(self):
        self.guest.surface = surface(*(f"server-with-a-long-name-{n:05}" for n in range(20_000)))
        code = "import os, subprocess\nprint(len(os.environ['MCP_AVAILABLE_SERVERS']) <= 32768)\nsubprocess.run(['true'], check=True)"
        self.shows(code, "True")
        self.assertGreater(len(self.names("MCP_AVAILABLE_SERVERS")), 300)


class Interrupts(BridgeCase):
    def test_in_the_middle_of_a_helper(self):
        guest = self.session()
        host, guest.answer = guest.answer, lambda name, args: None if name == "tools" and waiting else host(name, args)
        for code in (
            "runtime.list_tools_sync('stub')",
            "await runtime.search_tool_docs('x')",
            "from mcp.servers.stub import *",
        ):
            waiting = True
            guest.begin(code)
            guest.wait_for_call()
            guest.interrupt()
            self.assertEqual(guest.finish().error["kind"], "KeyboardInterrupt")
            waiting = False
            guest.surface, host.loaded = surface("stub"), ("stub",)
            self.shows("print(len(runtime.list_tools_sync('stub')))", "4", guest=guest)

    def test_while_saved_tools_are_loaded(self):
        guest = self.session()
        guest.answer.store.tools["late"] = "def late(): return 5"
        host, held = guest.answer, ["saved_tools"]
        guest.answer = lambda name, args: None if held and held.pop() == name else host(name, args)
        guest.begin("1")
        guest.wait_for_call()
        guest.interrupt()
        self.assertEqual(guest.finish().error["kind"], "KeyboardInterrupt")
        self.shows("print(late())", "5", guest=guest)

    def test_a_saved_tool_that_hangs(self):
        guest = self.session()
        hang = "import time\ndef hangs(n=[print('here', flush=True), time.sleep(60)]): pass"
        guest.answer.store.tools.update(hangs=hang, good="def good(): return 5")
        guest.begin("hangs()")
        guest.wait_for_call()
        guest.wait_for_output(b"here")
        guest.interrupt()
        outcome = guest.finish()
        self.assertIn("<saved tool hangs>", outcome.error["traceback"])
        told = "the run ended while the saved tool 'hangs' was being defined; `codeyard saved remove hangs` removes it\n"
        self.assertEqual(outcome.stderr.decode(), told)
        self.shows("print(good())", "5", guest=guest)
