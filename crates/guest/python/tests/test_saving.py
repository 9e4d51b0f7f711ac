"""`save_tool`: functions that later sessions find."""

import re

from tests.bridge_host import BridgeCase, Store
from tests.host import Failed

_SAVED = "Tool '{}' saved. It will be available in future sessions."


def _numbered(code, number):
    return re.sub(r"\bf\(", f"f{number}(", code)


class Saving(BridgeCase):
    def save(self, program, name, more=""):
        """Saves a function of a program and returns a later session."""
        self.guest.answer.store = store = Store()
        self.shows(f"{program}\nprint(save_tool({name}))", _SAVED.format(name) + more)
        return self.session(store)

    def check_saved(self, *cases):
        """Saves the function `f` of each program, and calls them all in one later session."""
        self.guest.answer.store = store = Store()
        for number, (program, _, _) in enumerate(cases):
            with self.subTest(program):
                self.shows(f"{_numbered(program, number)}\nprint(save_tool(f{number}))", _SAVED.format(f"f{number}"))
        later = self.session(store)
        for number, (program, call, result) in enumerate(cases):
            with self.subTest(program):
                self.shows(f"print({_numbered(call, number)})", result, guest=later)

    def test_functions(self):
        self.check_saved(
            ("def f(values): return max(values) - min(values)", "f([3, 9])", 6),
            ("async def f(name='x'):\n    return f'hello {name}'", "await f('y')", "hello y"),
            (
                "def f(n: int = 5) -> int:\n    '''Doc.\n\n    More.'''\n    # why\n    return 1 if n < 2 else n * f(n - 1)",
                "f()",
                120,
            ),
            ("if True:\n    def f(a):\n        return (a,\n    a)", "f(1)", "(1, 1)"),
            ("def outer():\n    def f(): return 7\n    return locals()\nglobals().update(outer())", "f()", 7),
            ("def f():\n    yield from [1, 2]", "list(f())", "[1, 2]"),
            ("def f(): return '\u00e4\u2028b'", "len(f())", 3),
            ("x = '''a\x0cb\u2028c\x85d'''\ndef f():\n    return 'right'\ny = 1", "f()", "right"),
            ("async def f(): return (await mcp_stub.echo(message='hi'))['content'][0]['text']", "await f()", "hi"),
            ("def f(): return load_memory('none', default=5), LOADED_MCP_SERVERS", "f()", "(5, ('stub',))"),
        )

    def test_a_name_that_the_library_mistakes_for_the_module(self):
        program = "def top(n=3):\n    global LAST\n    r = n\n    LAST = r\n    return r, LAST"
        more = " They will not have LAST, which it uses: save functions too, and define the rest before the call."
        self.shows("print(top())", "(3, 3)", guest=self.save(program, "top", more))

    def test_names_in_other_scripts(self):
        later = self.save("def gr\u00fc\u00dfe(): return 1", "gr\u00fc\u00dfe")
        self.shows("print(gr\u00fc\u00dfe())", 1, guest=later)

    def test_of_an_earlier_run_and_again_from_a_saved_one(self):
        store = Store()
        guest = self.session(store)
        self.shows("def f(): return 1", guest=guest)
        self.shows("f()", guest=guest)
        self.shows("print(runtime.save_tool(f))", _SAVED.format("f"), guest=guest)
        self.shows("print(f())\ndef f(): return 2\nprint(save_tool(f))", 1, _SAVED.format("f"), guest=guest)
        later = self.session(store)
        self.shows("print(f(), save_tool(f))", "2 " + _SAVED.format("f"), guest=later)
        self.assertEqual(list(store.tools), ["f"])

    def test_documented_program(self):
        guest = self.session()
        self.shows(
            "import statistics\nreadings = [3, 1, 4, 1, 5]\ndef spread(values): return max(values) - min(values)\nclass Note:\n    kind = 'kept'",
            guest=guest,
        )
        self.shows(
            "readings.append(9)\nprint(spread(readings), Note.kind, statistics.median(readings))",
            "8 kept 3.5",
            guest=guest,
        )
        self.shows("print(save_tool(spread))", _SAVED.format("spread"), guest=guest)

    def test_imports_come_along(self):
        self.check_saved(
            ("import math\ndef f(): return math.floor(2.5)", "f()", 2),
            ("import statistics as st\ndef f(): return st.median([1, 5])", "f()", 3.0),
            ("import os.path\ndef f(): return os.path.join('a', 'b')", "f()", "a/b"),
            ("from os import path\ndef f(): return path.join('a', 'b')", "f()", "a/b"),
            (
                "import concurrent.futures\ndef f(): return concurrent.futures.ThreadPoolExecutor.__name__",
                "f()",
                "ThreadPoolExecutor",
            ),
            (
                "import xml.dom as d\nimport xml.dom.minidom\ndef f(): return d.minidom.__name__",
                "f()",
                "xml.dom.minidom",
            ),
            ("from collections import defaultdict as dd\ndef f(): return dd(int)['x']", "f()", 0),
            (
                "from math import sqrt\nfrom pathlib import Path\ndef f(): return Path('/a').name, sqrt(4)",
                "f()",
                "('a', 2.0)",
            ),
            ("from typing import List\ndef f(x: List[int] = ()): return x", "f()", "()"),
            (
                "import functools\ndef f(): return (lambda: [functools.reduce for _ in (1,)])()[0].__name__",
                "f()",
                "reduce",
            ),
            ("import json as j, mcp.runtime as rt\ndef f(): return j.dumps(rt.list_servers_sync())", "f()", '["stub"]'),
            ("from mcp.runtime import list_servers_sync as names\ndef f(): return names()", "f()", "('stub',)"),
            ("from mcp.servers.stub import *\nasync def f(): return await echo(message='e')", "await f()", "e"),
            ("import mcp.servers.stub as s\nasync def f(): return await s.echo(message='e')", "await f()", "e"),
            ("from __future__ import annotations\ndef f(x: Unknown = 3): return x", "f()", 3),
        )

    def test_what_does_not_come_along_is_named(self):
        needs = " They will not have {}, which it uses: save functions too, and define the rest before the call."
        later = self.save(
            "LIMIT = 5\ndef helper(): return 1\nclass K: pass\ndef f(): return LIMIT, helper(), K, undefined",
            "f",
            needs.format("K, LIMIT, helper, undefined"),
        )
        self.shows("LIMIT = helper = K = undefined = 3\nhelper = int\nprint(f())", "(3, 0, 3, 3)", guest=later)
        store = Store()
        self.shows(
            "def g(): return 4\nsave_tool(g)\ndef f(): return g()\nprint(save_tool(f))",
            _SAVED.format("f"),
            guest=self.session(store),
        )
        self.shows(
            "def h(): return f() + g()\nprint(save_tool(h), h())", _SAVED.format("h") + " 8", guest=self.session(store)
        )
        later = self.save(
            "open('own.py', 'w').write('x = 1')\nimport own\ndef f(): return own.x", "f", needs.format("own")
        )
        self.fails("f()", "NameError", "own", guest=later)

    def test_what_is_no_function(self):
        # The reason follows the documented words.
        for program, name, reason in (
            ("f = lambda: 1", "f", "lambda"),
            ("class f: pass", "f", "f is a class"),
            ("", "len", "built into Python"),
            ("", "print", "built into Python"),
            ("", "'text'", "of type str"),
            ("", "None", "of type NoneType"),
            ("", "mcp_stub.echo", "of type Tool"),
            ("", "runtime.list_tools", "does not come from a program"),
            ("class K:\n    def m(self): pass", "K().m", "a method of an object"),
            ("class K:\n    def m(self): pass", "K.m", "a method of K"),
            (
                "def outer(n):\n    def inner(): return n\n    return inner",
                "outer(1)",
                "variables of the function around it: n",
            ),
            (
                "import functools\ndef wrap(g):\n    @functools.wraps(g)\n    def inner(): return g()\n    return inner\n@wrap\ndef f(): pass",
                "f",
                "a decorator has put another function in the place of f",
            ),
            ("import functools\n@functools.lru_cache\ndef f(): pass", "f", "_lru_cache_wrapper"),
            ("import functools\nf = functools.partial(int)", "f", "of type partial"),
            ("exec('def f(): pass')", "f", "does not come from a program"),
            ("def f(): pass\nf.__name__ = '../x'", "f", "'../x' is no name"),
            ("def f(): pass\nf.__name__ = 'class'", "f", "'class' is no name"),
            ("def f(): pass\nf.__name__ = 'g\\0'", "f", "is no name"),
            ("def f(): pass\nf.__name__ = 'g'", "f", "it is called g and was defined as f"),
            ("def save_tool(): pass", "save_tool", "has a meaning in every session"),
            ("def mcp_x(): pass", "mcp_x", "has a meaning in every session"),
            ("def type(): pass", "type", "has a meaning in every session"),
            ("def ValueError(): pass", "ValueError", "has a meaning in every session"),
            ("from statistics import mean as sum\ndef f(): return sum([1])", "f", "sum is built into Python"),
            ("def __repr__(): pass", "__repr__", "has a meaning in every session"),
            ("LIMIT = 5\ndef f(n=LIMIT): pass", "f", "default values or annotations use LIMIT"),
            (
                "def mark(g): return g\n@mark\ndef f(): pass",
                "f",
                "its decorators, default values or annotations use mark",
            ),
            ("if 1:\n    def f(): return '''a\n b'''", "f", "left margin"),
        ):
            with self.subTest(program + name):
                self.fails(
                    f"{program}\nruntime.save_tool({name})", "ValueError", "save_tool expects a function: ", reason
                )
                self.guest.run("for name in ('save_tool', 'type', 'ValueError', 'sum'): globals().pop(name, None)")
        self.assertEqual(self.made("save_tool"), [])

    def test_program_that_is_too_long_ago(self):
        self.shows(
            "def f(): pass\nimport linecache\nfor name in [n for n in linecache.cache if n.startswith('<program')]: del linecache.cache[name]"
        )
        self.fails("save_tool(f)", "ValueError", "too long ago; define it again")

    def test_refused_by_the_host(self):
        self.fails("def refused(): pass\nsave_tool(refused)", "RefusedError", "the store holds 500 tools")
        self.shows("try: save_tool(refused)\nexcept ValueError as e: print(e.kind)", "refused")


class Loading(BridgeCase):
    def test_one_that_fails_is_told_and_hinders_no_other(self):
        for source, reason in (
            ("def bad(:", "SyntaxError"),
            ("import no_such_module\ndef bad(): pass", "ModuleNotFoundError: No module named 'no_such_module'"),
            ("import sys\n@sys.exit\ndef bad(): pass", "SystemExit: <function bad"),
            ("def bad(n=(_ for _ in ()).throw(KeyboardInterrupt)): pass", "KeyboardInterrupt: "),
            ("def bad(n=(_ for _ in ()).throw(GeneratorExit)): pass", "GeneratorExit: "),
            ("def bad(n=1 / 0): pass", "ZeroDivisionError: division by zero"),
            # No program of a session can save these, but a direct host call can.
            ("import sys\nsys.exit(3)", "NotSavable: its source does not end with a function bad"),
            ("pass", "NotSavable: its source does not end with"),
            ("# nothing", "NotSavable: its source does not end with"),
            ("class bad: pass", "NotSavable: its source does not end with"),
            ("def worse(): pass", "NotSavable: its source does not end with"),
            ("def bad(): pass\nbad()", "NotSavable: its source does not end with"),
            ("print = 5\ndef bad(): pass", "NotSavable: its source has more than imports before the function, in line 1"),
            ("def print(): pass\ndef bad(): pass", "NotSavable: its source has more than imports"),
            ("from math import sqrt as print\ndef bad(): pass", "NotSavable: it imports print, which would replace"),
            ("from math import *\ndef bad(): pass", "NotSavable: it imports *, which would replace"),
        ):
            with self.subTest(source):
                store = Store()
                store.tools.update(bad=source, good="def good(): return 1")
                guest = self.session(store)
                outcome = guest.run("# bad\nprint(good())")
                self.assertEqual((outcome.error, outcome.stdout), (None, b"1\n"))
                told = outcome.stderr.decode()
                self.assertTrue(told.startswith(f"the saved tool 'bad' could not be loaded: {reason}"), told)
                self.shows("# bad\nprint(good())", "1", guest=guest)

    def test_one_in_the_place_of_what_every_program_needs(self):
        for name in ("print", "ValueError", "runtime", "save_tool", "mcp_other"):
            store = Store()
            store.tools[name] = f"def {name}(): pass"
            outcome = self.session(store).run(f"print({name}.__name__ != 5)")
            self.assertEqual(outcome.stdout, b"True\n", outcome)
            self.assertIn(f"'{name}' could not be loaded: NotSavable: the name {name} has a meaning", str(outcome))

    def test_only_what_a_program_names_is_defined(self):
        store = Store()
        slow = "@print\ndef {0}(n=__import__('time').sleep(60)): pass"
        store.tools.update({f"slow{n}": slow.format(f"slow{n}") for n in range(100)})
        store.tools.update(
            first="def first(): return 1",
            second="def second(f=first): return f() + third()",
            third="def third(): return 10",
            fix="def fix(): return 'fixed'",
        )
        guest = self.session(store)
        self.shows("print('first' in globals())", "True", guest=guest)
        self.shows("print(second(), 'fir' + 'st' in globals())", "11 True", guest=guest)
        self.shows("print('fi' + 'x' in globals(), 'slo' 'w1' in globals())", "False False", guest=guest)
        self.shows("print(\ufb01x())", "fixed", guest=guest)
        self.shows("print(globals()['third']())", "10", guest=guest)

    def test_asked_once_in_a_session(self):
        guest = self.session()
        for _ in range(3):
            guest.run("1")
        self.assertEqual([name for name, _ in guest.calls], ["saved_tools"])

    def test_a_store_that_does_not_answer_is_asked_again(self):
        store = Store()
        store.tools["twice"] = "def twice(n): return 2 * n"
        guest = self.session(store)
        host = guest.answer

        def answer(name, args):
            if name == "saved_tools":
                raise Failed("upstream", "the store is closed")
            return host(name, args)

        guest.answer = answer
        self.shows("print(1)", "1", stderr="the saved tools could not be loaded: the store is closed\n", guest=guest)
        self.shows("print(2)", "2", guest=guest)
        guest.answer = host
        self.shows("print(twice(2))", "4", guest=guest)

    def test_in_order_and_with_traceback(self):
        store = Store()
        store.tools.update(first="def first(): return 1 / 0", second="def second(f=first): return f()")
        guest = self.session(store)
        self.fails(
            "second()",
            "ZeroDivisionError",
            'File "<saved tool first>", line 1, in first\n    def first(): return 1 / 0',
            guest=guest,
        )

    def test_one_whose_server_is_not_loaded(self):
        store = Store()
        store.tools["ask"] = "async def ask(): return await mcp_other.echo()"
        self.fails("await ask()", "MCPError", "Server 'other' is not available", guest=self.session(store))

    def test_own_names_go_before(self):
        store = Store()
        store.tools["f"] = "def f(): return 1"
        guest = self.session(store)
        self.shows("def f(): return 2\nprint(f())", "2", guest=guest)
        self.shows("print(f())", "2", guest=guest)
        # A tool defined late must not replace an existing name, by itself or by its imports.
        store.tools["uses"] = "from os import path\nimport math\ndef uses(): return path, math.floor(1.5)"
        guest = self.session(store)
        self.shows("path = 'own'\nglobals()['f'[:]] = 'own too'", guest=guest)
        self.shows("print(uses(), path, f)", "('own', 1) own own too", guest=guest)
        self.shows("del f\nprint('f' in globals())", "False", guest=guest)
