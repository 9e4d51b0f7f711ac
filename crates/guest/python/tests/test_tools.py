"""Tools: every form of access, values, errors, forgotten awaits, many calls at once, threads, forks."""

from tests.host import Gone, GuestCase, text


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
        self.check("import datetime, decimal, pathlib\n"
                   "await tools.stub.args(d=datetime.date(2020, 1, 2), n=None, t=(1, 2), s={3}, p=pathlib.Path('/x'), f=float('nan'))",
                   {"args": {"d": "2020-01-02", "n": None, "t": [1, 2], "s": [3], "p": "/x", "f": None}})
        self.check("(await tools.stub.args({'from': 'a', 'with-hyphen': 1})).args", {"from": "a", "with-hyphen": 1})
        self.check("r = await tools.stub.args(x={'a': 1})\nawait tools.stub.args(r)", {"args": {"args": {"x": {"a": 1}}}})

    def test_mistakes_in_arguments(self):
        self.check_error("await tools.stub.add(1, 2)", "TypeError", "keyword arguments or one mapping")
        self.check_error("await tools.stub.add('x')", "TypeError", "one mapping")
        self.check_error("await tools.stub.add({'a': 1}, b=2)", "TypeError", "one mapping")
        self.check_error("await tools.stub.add(a=object())", "TypeError", "'a'", "object")
        self.check_error("await tools.stub.add({1: 2})", "TypeError", "names of arguments")
        self.check_error("x = []\nx.append(x)\nawait tools.stub.add(a=x)", "ValueError", "'a'", "contains itself")
        self.check_error("x = []\nfor _ in range(500): x = [x]\nawait tools.stub.add(a=x)", "ValueError", "deeper than 100")
        self.assertEqual(self.guest.calls, [])

    def test_calls_in_modules_of_the_program(self):
        self.check("open('m.py', 'w').write('async def f():\\n    return await tools.stub.add(a=1, b=2)\\n')", 57)
        self.check("import m\nawait m.f()", {"sum": 3})

    def test_probing_makes_no_calls(self):
        self.check("[hasattr(x, n) for x in (tools, tools.stub, tools.stub.add, mcp) for n in ('__wrapped__', '_repr_html_')]",
                   [False] * 8)
        self.check("import copy, inspect\ninspect.isawaitable(tools.stub), callable(tools.stub.add)", [False, True])
        self.assertEqual(self.guest.calls, [])

    def test_unknown_modules(self):
        self.check_error("import mcp.client", "ModuleNotFoundError", "mcp.client")
        self.check_error("from tools.stub.add import other", "ImportError", "other")

    def test_shown(self):
        self.check("[repr(x) for x in (tools.stub.add, tools.stub, mcp_stub.add)]", ["<tool tools.stub.add>", "<server stub>", "<tool mcp_stub.add>"])


class Values(GuestCase):
    def value(self, result, code="v"):
        return f"v = await tools.stub.raw(result={result!r})\n{code}"

    def test_native(self):
        self.check(self.value(text("hello")), "hello")
        self.check(self.value(text('{"a": [1, {"b": null}]}')), {"a": [1, {"b": None}]})
        self.check(self.value(text(" [1, 2]\n")), [1, 2])
        self.check(self.value(text("5"), "v + 1"), 6)
        self.check(self.value(text("null"), "v is None"), True)
        self.check(self.value(text("5 apples")), "5 apples")
        self.check(self.value(text("NaN")), "NaN")
        self.check(self.value(text("")), "")
        self.check(self.value({"content": []}, "v is None"), True)
        self.check(self.value({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}), "a\nb")
        self.check(self.value(text('{"a": 1}', structuredContent={"a": 2})), {"a": 2})
        self.check(self.value(text("x", structuredContent={"result": [1]})), {"result": [1]})

    def test_other_blocks(self):
        image = {"type": "image", "mimeType": "image/png", "data": "aGk="}
        self.check(self.value({"content": [image]}, "v[0].mimeType"), "image/png")
        self.check(self.value({"content": [image, {"type": "text", "text": "t"}]}, "v, v.raw.content[0]['data']"), ["t", "aGk="])

    def test_attributes(self):
        record = text('[{"id": 1, "items": 2, "in": {"deep": 3}, "raw": 4}]')
        self.check(self.value(record, "v[0].id, v[0]['items'], callable(v[0].items), v[0]['in'].deep, v[0].raw"), [1, 2, True, 3, 4])
        self.check_error(self.value(record, "v[0].nothing"), "AttributeError", "no key 'nothing'", "id, items")
        self.check(self.value(record, "hasattr(v[0], 'nothing'), hasattr(v[0], '__array__')"), [False, False])

    def test_raw(self):
        for value, kind in (('"s"', "str"), ("[1]", "list"), ('{"a": 1}', "dict"), ("plain", "str")):
            result = text(value, _meta={"x": 1})
            self.check(self.value(result, f"isinstance(v, {kind}), v.raw"), [True, result])
        self.check(self.value(text("5"), "from mcp import runtime\nruntime.last_raw()"), text("5"))
        self.check(self.value(text("x", structuredContent={"a": 1}), "v.raw['structuredContent'] == v"), True)

    def test_values_are_ordinary(self):
        code = """
import json, pickle, copy
w = pickle.loads(pickle.dumps(v))
json.dumps(v), w == v, w.a.b, w.raw == v.raw, copy.deepcopy(v) == v, dict(v) == v, {**v}, v | {'c': 1}, repr(v)
"""
        value = {"a": {"b": 1}}
        self.check(self.value(text('{"a": {"b": 1}}'), code),
                   ['{"a": {"b": 1}}', True, 1, True, True, True, value, {**value, "c": 1}, "{'a': {'b': 1}}"])
        self.check(self.value(text("abc"), "v[:2], 'b' in v, v + 'd', f'{v}', type(v.upper()).__name__, {v: 1}['abc']"),
                   ["ab", True, "abcd", "abc", "str", 1])
        self.check(self.value(text("[3, 1]"), "sorted(v), v + [2], len(v), [*v]"), [[1, 3], [3, 1, 2], 2, [3, 1]])
        self.check(self.value(text('{"a": 1}'), "match v:\n    case {'a': x}: pass\nx"), 1)

    def test_bridge(self):
        def bridge(result, code):
            return f"v = await mcp_stub.raw(result={result!r})\n{code}"

        block = [{"type": "text", "text": "abc"}]
        self.check(bridge(text("abc"), "v[:2], 'b' in v, v['content'], v['isError'], v['structuredContent'], v.content"),
                   ["ab", True, block, False, None, block])
        self.check(bridge(text("[1, 2]"), "v[0], len(v), v['content'][0]['text']"), [1, 2, "[1, 2]"])
        self.check(bridge(text('{"content": "own", "b": 1}'), "v['content'], v.b, v['isError']"), ["own", 1, False])
        self.check(bridge(text("5"), "v + 1, v['content'][0].text, isinstance(v, int)"), [6, "5", True])
        self.check(bridge(text("2.5"), "v * 2, v['isError']"), [5.0, False])
        self.check(bridge(text("true"), "bool(v), v == True, v['isError'], repr(v)"), [True, True, False, "True"])
        self.check(bridge(text("null"), "bool(v), v == None, v['content'][0].text"), [False, True, "null"])
        self.check(bridge(text("null"), "v"), None)
        self.check(bridge(text("true"), "[v, {'a': v}]"), [True, {"a": True}])
        self.check_error(bridge(text('{"a": 1}'), "v['b']"), "KeyError")

    def test_large(self):
        self.check("len(await tools.stub.big(bytes=5_000_000))", 5_000_000)
        self.check("r = await tools.stub.big({'bytes': 20_000_000})\nprint(len(str(r)))", None, "20000000\n")

    def test_lone_surrogates_go_through(self):
        self.check("(await tools.stub.echo(message='a\\ud800b')) == 'a\\ufffdb'", True)
        self.check("(await tools.stub.echo(message='\\ud83d\\ude00')) == '\\U0001f600'", True)
        self.check("await tools.stub.echo(message='größer 😀 \\x00')", "größer 😀 \x00")


class Failures(GuestCase):
    def test_a_tool_that_reports_an_error(self):
        self.check_error("await tools.stub.fail(message='nope')", "ToolError", "nope", "line 1")
        self.check("try:\n    await tools.stub.fail({'message': 'nope'})\nexcept Exception as e:\n    print('caught', 'nope' in str(e))",
                   None, "caught True\n")
        self.check("try:\n    servers.stub.fail(message='n')\nexcept ToolError as e:\n"
                   "    r = e.server, e.tool, e.message, e.kind, e.retryable, e.hint\nr", ["stub", "fail", "n", "tool", False, None])
        self.check("runtime.last_raw()['isError']", True)

    def test_a_call_that_the_host_refuses(self):
        self.check_error("await tools.stub.ecko(message='x')", "ToolError", "not mounted", "did you mean 'echo'?")
        self.check_error("await tools.nowhere.echo()", "ToolError", "no server 'nowhere'")
        self.check_error("await tools.stub.denied()", "ToolError", "denied by policy")
        self.check("try:\n    await tools.stub.busy()\nexcept ToolError as e:\n    r = e.kind, e.retryable, e.server, e.tool\nr",
                   ["upstream", True, "stub", "busy"])

    def test_limit_of_calls(self):
        self.assertEqual(self.check_error("await tools.stub.limit()", "ToolError").error["limit"], "host_calls")

    def test_only_own_lines_in_the_traceback(self):
        outcome = self.check_error("async def f():\n    return await tools.stub.fail()\nawait f()", "ToolError", "line 2, in f", "line 3")
        self.assertEqual(outcome.error["traceback"].count("File "), 2)

    def test_pickles(self):
        self.check("import pickle\ntry:\n    await tools.stub.ecko()\nexcept ToolError as e:\n    e2 = pickle.loads(pickle.dumps(e))\n"
                   "    r = e2.kind, e2.hint, str(e2) == str(e)\nr", ["unknown_tool", "did you mean 'echo'?", True])


class Unawaited(GuestCase):
    def test_reported_with_tool_and_line(self):
        self.check_error("x = 1\ntools.stub.add(a=1, b=2)\nprint('end')", "UnawaitedCall", "tools.stub.add", "line 2", "await tools.stub.add")
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
            self.check("import asyncio\nasync with asyncio.TaskGroup() as g:\n"
                       "    t = [g.create_task(tools.stub.echo(message=str(n))) for n in range(3)]\n[x.result() for x in t]", [0, 1, 2])

    def test_awaited_twice(self):
        self.check_error("c = tools.stub.echo(message='x')\nawait c\nawait c", "RuntimeError", "awaited before")

    def test_closed_on_purpose(self):
        self.check("c = tools.stub.echo()\nc.close()")
        self.check("import asyncio\nt = asyncio.create_task(tools.stub.echo())\nt.cancel()\nawait asyncio.sleep(0)\nt.cancelled()", True)


class Parallel(GuestCase):
    def test_gather(self):
        self.check("import asyncio\nr = await asyncio.gather(*[tools.stub.add(a=n, b=1) for n in range(100)])\nsum(x.sum for x in r)", 5050)

    def test_calls_are_bounded(self):
        guest = self.own_guest(concurrent=4)
        code = "import asyncio\nlen(await asyncio.gather(*[tools.stub.hold() for n in range(20)]))"

        def during(guest, _call):
            if len(guest.held) == 4 or len(guest.calls) == 20:
                for call in guest.held:
                    guest.reply(call, text("x"))
                guest.held.clear()

        outcome = guest.run(code, during)
        self.assertEqual(outcome.result, 20, outcome)
        self.assertEqual(guest.most_flying, 4)

    def test_really_at_once_and_out_of_order(self):
        guest = self.own_guest()

        def during(guest, _call):
            if len(guest.held) == 3:
                for call in reversed(guest.held):
                    guest.reply(call, text(str(call["args"]["args"]["n"])))
                guest.held.clear()

        outcome = guest.run("import asyncio\nawait asyncio.gather(*[tools.stub.hold(n=n) for n in range(3)])", during)
        self.assertEqual(outcome.result, [0, 1, 2])

    def test_blocking_calls_inside_a_running_loop(self):
        guest = self.own_guest()
        code = """
import asyncio
waiting = asyncio.ensure_future(tools.stub.hold(n=1))
await asyncio.sleep(0)
await asyncio.sleep(0)
first = servers.stub.hold(n=2)
return first, await waiting
"""

        def during(guest, _call):
            if len(guest.held) == 2:
                for call in guest.held:
                    guest.reply(call, text(f"answer {call['args']['args']['n']}"))
                guest.held.clear()

        self.assertEqual(guest.run(code, during).result, ["answer 2", "answer 1"])

    def test_threads(self):
        self.check("from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(8) as pool:\n"
                   "    r = list(pool.map(lambda n: servers.stub.add(a=n, b=n).sum, range(200)))\nr == [2 * n for n in range(200)]", True)

    def test_threads_and_loops_together(self):
        code = """
import asyncio, threading
from servers.stub import add as blocking
found = []
async def many(n):
    r = await asyncio.gather(*[tools.stub.add(a=n, b=k) for k in range(50)])
    found.append(sum(x.sum for x in r))
def plain(n):
    found.append(sum(blocking(a=n, b=k).sum for k in range(50)))
threads = [threading.Thread(target=lambda n=n: asyncio.run(many(n))) for n in range(3)]
threads += [threading.Thread(target=plain, args=(n,)) for n in range(3)]
for t in threads: t.start()
await many(3)
for n in range(20): blocking(a=1, b=1)
while any(t.is_alive() for t in threads): await asyncio.sleep(0.001)
return sorted(found) == sorted(sum(n + k for k in range(50)) for n in (0, 1, 2, 0, 1, 2, 3))
"""
        for _ in range(5):
            self.check(code, True)

    def test_asyncio_run_repeatedly(self):
        self.check("import asyncio\nasync def main(n):\n    return (await tools.stub.add(a=n, b=1)).sum\n"
                   "[asyncio.run(main(n)) for n in range(20)][-1]", 20)
        self.check("await tools.stub.add(a=1, b=1)", {"sum": 2})

    def test_timeouts_leave_the_channel_whole(self):
        guest = self.own_guest(concurrent=2)
        guest.begin("""
import asyncio
async def give_up():
    try:
        await asyncio.wait_for(tools.stub.hold(), 0.01)
    except asyncio.TimeoutError:
        return 'late'
r = await asyncio.gather(*[give_up() for _ in range(2)])
print('gave up')
return r, await tools.stub.echo(message='next')
""")
        held = [guest.wait_for_call(), guest.wait_for_call()]
        guest.wait_for_output(b"gave up")
        # The slots are free again only when the host has answered.
        for call in held:
            guest.reply(call, text("too late"))
        self.assertEqual(guest.finish().result, [["late", "late"], "next"])


class AfterTheRun(GuestCase):
    def test_calls_of_threads_end_with_the_run(self):
        guest = self.own_guest()
        code = """
import threading, queue
errors = queue.Queue()
def work():
    try:
        servers.stub.hold()
    except ToolError as e:
        errors.put((e.kind, str(e)))
t = threading.Thread(target=work)
t.start()
servers.stub.echo(message='x')
"""
        guest.begin(code)
        guest.wait_for_call()
        outcome = guest.finish()
        self.assertIsNone(outcome.error, outcome)
        outcome = guest.run("errors.get(timeout=10)")
        self.assertEqual(outcome.result, ["cancelled", "the run that made this call is over"], outcome)
        self.assertEqual(guest.run("t.join()\nservers.stub.echo(message='again')").result, "again")

    def test_calls_of_tasks_end_with_the_run(self):
        guest = self.own_guest()
        guest.run("import asyncio\ntask = asyncio.ensure_future(tools.stub.hold())\nawait asyncio.sleep(0.01)")
        outcome = guest.run("try:\n    await task\nexcept ToolError as e:\n    r = e.kind\nr")
        self.assertEqual(outcome.result, "cancelled", outcome)

    def test_calls_between_runs_are_refused(self):
        guest = self.own_guest()
        code = """
import threading
go, found = threading.Event(), []
def work():
    go.wait()
    while True:
        try:
            servers.stub.echo(message='x')
        except ToolError as e:
            found.append(e.kind)
            break
threading.Thread(target=work, daemon=True).start()
threading.Timer(0.05, go.set).start()
"""
        self.assertIsNone(guest.run(code).error)
        self.assertEqual(guest.run("go.wait()\nimport time\ntime.sleep(0.1)\nfound in (['cancelled'], [])").result, True)

    def test_the_guest_ends_with_its_socket(self):
        guest = self.own_guest()
        guest._socket.shutdown(1)
        self.assertEqual(guest.process.wait(10), 0)

    def test_a_program_that_ends_the_process(self):
        guest = self.own_guest()
        with self.assertRaises(Gone) as gone:
            guest.run("import os\nprint('first')\nprint('second')\nos._exit(3)")
        self.assertEqual(gone.exception.args[0][0], b"first\nsecond\n")

    def test_a_program_that_closes_the_socket(self):
        guest = self.own_guest()
        with self.assertRaises(Gone):
            guest.run("import os\nos.close(3)")


class Forks(GuestCase):
    def test_a_child_cannot_call(self):
        code = """
import os
r, w = os.pipe()
if os.fork() == 0:
    try:
        servers.stub.echo(message='child')
    except ToolError as e:
        os.write(w, str(e).encode())
    os._exit(0)
os.wait()
os.read(r, 1000).decode()
"""
        outcome = self.guest.run(code)
        self.assertIn("a forked process cannot call tools", outcome.result, outcome)
        self.check("servers.stub.echo(message='parent')", "parent")

    def test_a_child_that_comes_back_ends_quietly(self):
        code = "import os\nprint('once')\npid = os.fork()\nif pid == 0:\n    print('child')\nelse:\n    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
        self.check(code, None, "once\nchild\n0\n")
        code = "import os\npid = os.fork()\nif pid == 0:\n    raise SystemExit(7)\nos.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])"
        self.check(code, 7)
        outcome = self.guest.run("import os\npid = os.fork()\nif pid == 0:\n    1/0\nos.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])")
        self.assertEqual(outcome.result, 1, outcome)
        self.assertIn(b"ZeroDivisionError", outcome.stderr)

    def test_multiprocessing(self):
        code = """
import multiprocessing
context = multiprocessing.get_context('fork')
def square(n):
    return n * n
with context.Pool(2) as pool:
    r = pool.map(square, range(5))
return r
"""
        self.check(code, [0, 1, 4, 9, 16])
        self.check("from concurrent.futures import ProcessPoolExecutor\n"
                   "with ProcessPoolExecutor(2, mp_context=context) as p:\n    r = list(p.map(square, [3]))\nr", [9])
        self.check("await tools.stub.echo(message='after')", "after")

    def test_subprocess(self):
        self.check("import subprocess\nsubprocess.run(['echo', 'x'], capture_output=True, text=True).stdout", "x\n")
        self.check("print('a')\nsubprocess.run(['sh', '-c', 'echo b; echo c >&2'])\nprint('d')", None, "a\nb\nd\n", "c\n")
        self.check("import os\nprint('e', end='')\nos.system('echo f')", 0, "ef\n")
        self.check("subprocess.run(['sh', '-c', 'ls /proc/self/fd | wc -l'], capture_output=True, text=True).stdout.strip() in '345'", True)
