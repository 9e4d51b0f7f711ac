"""Programs: results, state from run to run, tracebacks, syntax, exit."""

import sys

from tests.host import GuestCase


class Results(GuestCase):
    def test_last_expression(self):
        self.check("1 + 1", 2)
        self.check("x = 4\nx * 2", 8)
        self.check("print('a')", None, "a\n")
        self.check("'''a\nb'''", "a\nb")
        self.check("[1,\n 2]", [1, 2])

    def test_a_finalizer_that_parses_does_not_disturb_the_next_program(self):
        finalizers = """
import ast, gc
class Loud:
    def __init__(self):
        self.me = self
    def __del__(self):
        ast.parse("a.b(c)[d]")
        Loud()
Loud()
gc.set_threshold(1, 1, 1)
"""
        self.check(finalizers)
        for number in range(20):
            self.check(f"x = [{number}, (1, [2, {{3: 4}}])]\nx[0]", number)
        self.check("Loud.__del__ = lambda self: None\ngc.set_threshold(700, 10, 10)\ngc.isenabled()", True)

    def test_none_is_no_result(self):
        for code in ("None", "x = 1", "", "# nothing to do", "   \n\n", "print()", "pass"):
            with self.subTest(code):
                self.assertFalse(self.check(code).has_result)

    def test_top_level_return(self):
        self.check("return 5", 5)
        self.check("for i in range(9):\n    if i == 3:\n        return i\n", 3)
        self.check("x = 1\nif x:\n    return {'x': x}\nprint('not reached')", {"x": 1}, "")
        self.check("try:\n    return 1\nexcept:\n    return 2", 1)
        self.check("try:\n    return 1\nfinally:\n    print('cleaned')", 1, "cleaned\n")
        self.check("return 1\nreturn 2", 1)

    def test_return_none_is_a_result_and_a_bare_return_is_not(self):
        self.assertTrue(self.check("return None").has_result)
        self.assertFalse(self.check("if True:\n    return\n1 + 1").has_result)

    def test_return_is_no_exception_to_a_with_block(self):
        code = """
class Block:
    def __enter__(self): return self
    def __exit__(self, kind, error, place): print(kind)
with Block():
    return 7
"""
        self.check(code, 7, "None\n")

    def test_return_rolls_no_database_back(self):
        self.check(
            "import sqlite3\ndb = sqlite3.connect(':memory:')\ndb.execute('create table t (n)')\n"
            "with db:\n    db.execute('insert into t values (1)')\n    return 'stored'",
            "stored",
        )
        self.check("db.execute('select count(*) from t').fetchone()[0]", 1)

    def test_names_of_a_program_with_return_stay(self):
        code = """
from __future__ import annotations
from os.path import *
import os.path as p, json
a: int = 1
b: str
(c, *d), e = (2, 3, 4), 5
for f in range(2): pass
with open('/dev/null') as g: pass
try:
    1 / 0
except ZeroDivisionError as h:
    i = str(h)
def j(): return a
class K:
    pass
[m := n for n in range(3)]
a += 1
del e
match {"x": 1, "y": 2}:
    case {"x": q, **r}: pass
global s
s = 9
if a:
    return a
"""
        self.check(code, 2)
        self.check(
            "return (a, c, d, f, i, j(), K.__qualname__, m, q, r, s)",
            [2, 2, [3, 4], 1, "division by zero", 2, "K", 2, 1, {"y": 2}, 9],
        )
        self.check("[name for name in ('b', 'e', 'n') if name in globals()]", [])
        self.check("join('a', 'b')", "a/b")
        self.check("import pickle\npickle.loads(pickle.dumps(K())).__class__ is K", True)

    def test_locals_of_a_program_with_return_are_the_globals(self):
        self.check("v = 1\nreturn locals() is globals()", True)

    def test_return_with_await(self):
        self.check("import asyncio\nawait asyncio.sleep(0)\nreturn [x async for x in numbers()] if False else 3", 3)

    def test_return_inside_functions_is_untouched(self):
        self.check("def f():\n    return 1\nclass A:\n    def g(self): return 2\nf() + A().g()", 3)

    def test_variable_result(self):
        self.check("result = {'a': 1}", {"a": 1})
        self.check("result = [1]\nprint('x')", [1])
        self.check("result = 5\n6", 6)
        self.check("result = 5\nreturn 7", 7)
        self.check("def f():\n    global result\n    result = 8\nf()", 8)

    def test_variable_result_that_was_printed_last_is_not_given_again(self):
        for code in (
            "result = 'a\\nb'\nprint(result)",
            "result = 'a \\u00e9'\nprint('it says', result)",
            "result = 'a'\nprint(result, end='')",
            "import sys\nresult = 'a'\nsys.stdout.write('a\\n') and None",
            "result = await tools.stub.echo(message='words')\nprint(result)",
        ):
            self.assertFalse(self.guest.run(code).has_result, code)
        for code in (
            "result = 'a'\nprint('ba')",
            "result = 'a'\nprint(result)\nprint('b')",
            "result = 'a'\nprint(f'it says {result}')",
            "import sys\nresult = 'a'\nprint(result, file=sys.stderr)",
            "result = 'a'\nprint(result)\nresult",
            "result = 'a'\nprint(result)\nreturn result",
            "result = 'a'",
        ):
            self.check(code, "a")
        self.check("result = {'a': 1}\nprint(result)", {"a": 1})

    def test_variable_result_counts_only_in_the_run_that_assigns_it(self):
        self.check("result = 5", 5)
        self.assertFalse(self.check("x = result + 1").has_result)
        self.check("x", 6)
        self.check("result = 5", 5)
        self.assertFalse(self.check("if False:\n    result = 5").has_result)
        self.check("result += 1", 6)
        self.check("result", 6)
        self.check("'result' in globals()", True)
        self.check("result = None", None)
        self.check("result is None", True)
        self.check("if 'result' not in globals():\n    result = []\nresult is None", True)
        self.check("del result\n'result' in globals()", False)


class Await(GuestCase):
    def test_top_level_await(self):
        self.check("import asyncio\nawait asyncio.sleep(0.05)\nprint('awaited')", None, "awaited\n")
        self.check("await asyncio.sleep(0, 'value')", "value")
        self.check("[await asyncio.sleep(0, n) for n in range(3)]", [0, 1, 2])

    def test_async_statements(self):
        self.check("async def g():\n    for n in range(3):\n        yield n\n")
        self.check("total = 0\nasync for n in g():\n    total += n\ntotal", 3)
        self.check("[n async for n in g()]", [0, 1, 2])
        self.check(
            "from contextlib import asynccontextmanager\n@asynccontextmanager\nasync def c():\n    yield 4\n"
            "async with c() as value:\n    pass\nvalue",
            4,
        )

    def test_without_await_no_loop_runs(self):
        self.check("import asyncio\nasync def main():\n    return 5\nasyncio.run(main())", 5)
        self.check(
            "def f():\n    try:\n        asyncio.get_running_loop()\n    except RuntimeError:\n        return 'none'\nf()",
            "none",
        )

    def test_run_in_a_thread_beside_a_running_loop(self):
        self.check(
            "import threading\nfound = []\nasync def main():\n    await asyncio.sleep(0)\n    found.append(1)\n"
            "await asyncio.sleep(0)\nt = threading.Thread(target=lambda: asyncio.run(main()))\nt.start()\nt.join()\nfound",
            [1],
        )

    def test_tasks_stand_still_between_runs(self):
        self.check(
            "steps = []\nasync def count():\n    while True:\n        steps.append(1)\n        await asyncio.sleep(0)\n"
            "task = asyncio.create_task(count())\nawait asyncio.sleep(0)\nlen(steps) > 0",
            True,
        )
        self.check("before = len(steps)\nlen(steps) == before", True)
        self.check("await asyncio.sleep(0.01)\nlen(steps) > before", True)
        self.check("task.cancel()\nawait asyncio.sleep(0)\ntask.cancelled()", True)

    def test_forgotten_await_of_a_coroutine(self):
        self.check_error("async def main():\n    return 1\nmain()", "UnawaitedCall", "await main()", "line 3")

    def test_loop_stopped_by_the_program(self):
        self.check_error("import asyncio\nasyncio.get_running_loop().stop()\nawait asyncio.sleep(5)", "RuntimeError")
        self.check("await asyncio.sleep(0, 3)", 3)


class State(GuestCase):
    def test_kept(self):
        self.check(
            "import statistics\nreadings = [3, 1, 4]\ndef spread(v): return max(v) - min(v)\nclass Note:\n    kind = 'kept'"
        )
        self.check(
            "readings.append(9)\nprint(spread(readings), Note.kind, statistics.median(readings))", None, "8 kept 3.5\n"
        )

    def test_kept_after_errors(self):
        self.check_error("kept = 1\n1 / 0", "ZeroDivisionError")
        self.check("kept", 1)

    def test_main_module(self):
        self.check("__name__", "__main__")
        self.check("if __name__ == '__main__':\n    print('main')", None, "main\n")
        self.check("import sys\nsys.modules['__main__'].__dict__ is globals()", True)

    def test_pickle_and_dataclasses(self):
        self.check("import pickle, dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\n")
        self.check("pickle.loads(pickle.dumps(P(3))).x", 3)

    def test_getsource_of_an_earlier_run(self):
        self.check("def shown(a):\n    return a + 1\n")
        self.check("import inspect\ninspect.getsource(shown)", "def shown(a):\n    return a + 1\n")

    def test_modules_of_the_workspace(self):
        self.check("open('helper.py', 'w').write('def f(): return 41\\n')", 19)
        self.check("import helper\nhelper.f()", 41)
        self.check("open('json.py', 'w').write('broken')\nimport json\njson.dumps(1)", "1")

    def test_interactive_names(self):
        self.check("write_file('notes/a.txt', 'x')\nread_file('notes/a.txt')", "x")
        self.check("list_dir(), list_dir('notes')", [["notes"], ["a.txt"]])
        self.check("json.loads('1')", 1)

    def test_names_may_be_shadowed_and_come_back(self):
        self.check("tools = [1]\ntools", [1])
        self.check("tools", [1])
        self.check("del tools\nrepr(tools)", "<servers of tools>")

    def test_two_guests_share_nothing(self):
        self.check("secret = 'k'")
        self.check("'secret' in globals()", False, guest=self.own_guest())


class Language(GuestCase):
    def test_ordinary_programs(self):
        self.check(
            "class A:\n    def f(self): return 1\ntry:\n    {}['k']\nexcept KeyError as e:\n"
            "    print(repr(e), isinstance(A(), A), list(map(str, range(2))))",
            None,
            "KeyError('k') True ['0', '1']\n",
        )
        self.check("s='''a\nb'''\nprint(len(s))", None, "3\n")
        self.check("import re; print(re.compile('a+').match('aa').group())", None, "aa\n")
        self.check("class M:\n    def eval(self): return 5\nprint(M().eval())", None, "5\n")
        self.check('print("never call eval (x) or exec(y)")', None, "never call eval (x) or exec(y)\n")
        self.check("print(getattr({}, 'keys', None) is not None)", None, "True\n")
        self.check("# subprocess. in a comment\nprint(1)", None, "1\n")
        self.check(
            "import asyncio, json, re, math, datetime, time, uuid, collections, itertools, functools, statistics, "
            "typing\nprint('ok')",
            None,
            "ok\n",
        )
        self.check("\ufeffprint('mark')", None, "mark\n")
        self.check("print('größer 中 \U0001f600')", None, "größer 中 \U0001f600\n")
        self.check("x = 1;", None)
        self.check("if True:\r\n    print('crlf')\r\n", None, "crlf\n")
        self.check("(y := 3)", 3)
        self.check("global g\ng = 1\ng", 1)

    def test_exec_and_eval(self):
        self.check("exec('z = 3')\nz", 3)
        self.check("eval('1 + 1')", 2)

    def test_annotations(self):
        self.check(
            "v: int = 3\n__annotations__['v'].__name__" if __import__("sys").version_info < (3, 14) else "'int'", "int"
        )


class Errors(GuestCase):
    def test_line_numbers(self):
        self.check_error("x = 1\ny = 0\nprint(x/y)", "ZeroDivisionError", "division by zero", "line 3", "print(x/y)")
        self.check_error("x = 1\ny = 0\nreturn x/y", "ZeroDivisionError", "line 3, in <module>")
        self.check_error("import asyncio\nawait asyncio.sleep(0)\n1/0", "ZeroDivisionError", "line 3")

    def test_marks_stand_below_what_failed(self):
        if sys.version_info >= (3, 11):
            self.check_error("y = 0\n1/y", "ZeroDivisionError", "    1/y\n    ~^~\n")
            self.check_error("y = 0\nif True:\n  return 1/y", "ZeroDivisionError", "    return 1/y\n           ~^~\n")
            self.check_error("y = 0\n1/y\n", "ZeroDivisionError", "    1/y\n    ~^~\n")

    def test_output_before_an_error_is_kept(self):
        outcome = self.check_error("print('before')\nraise ValueError('boom')", "ValueError", "ValueError: boom")
        self.assertEqual(outcome.stdout, b"before\n")

    def test_only_own_lines(self):
        outcome = self.check_error(
            "import json\njson.loads('{')", "JSONDecodeError", 'File "<program>", line 2', "json.loads('{')"
        )
        self.assertEqual(outcome.error["traceback"].count("File "), 1)

    def test_functions_of_earlier_runs(self):
        self.check("\n\ndef fails():\n    return 1 / 0\n")
        self.check_error("fails()", "ZeroDivisionError", "of run", "line 4, in fails", "return 1 / 0")

    def test_modules_of_the_program(self):
        self.check("open('broken.py', 'w').write('def f():\\n    raise KeyError(1)\\n')", 31)
        # The tests' workspace lies below /tmp, whose files count as the program's own.
        self.check_error("import broken\nbroken.f()", "KeyError", "broken.py", "line 2, in f")

    def test_causes(self):
        outcome = self.check_error(
            "try:\n    1/0\nexcept ZeroDivisionError as e:\n    raise ValueError('second') from e",
            "ValueError",
            "direct cause",
            "ZeroDivisionError",
            "line 2",
            "line 4",
        )
        self.assertEqual(outcome.error["message"], "second")

    def test_message_on_one_line(self):
        self.check_error("raise ValueError('a\\nb\\n\\nc')", "ValueError", "a b c")
        outcome = self.check_error("raise ValueError('x' * 10**6)", "ValueError")
        self.assertLess(len(outcome.error["message"]), 3000)
        self.assertLess(len(outcome.error["traceback"]), 30000)

    def test_deep_recursion(self):
        outcome = self.check_error("def f(): f()\nf()", "RecursionError", "in f")
        self.assertLess(len(outcome.error["traceback"]), 20000)
        self.check("1", 1)

    def test_exceptions_that_misbehave(self):
        self.check_error("class E(Exception):\n    def __str__(self): raise KeyError\nraise E", "E")
        self.check_error("class E(BaseException): pass\nraise E('base')", "E", "base")
        self.check_error("raise GeneratorExit", "GeneratorExit")
        self.check_error("raise StopIteration(3)", "StopIteration")
        self.check_error("import asyncio\nraise asyncio.CancelledError", "CancelledError")
        self.check_error("import asyncio\nawait asyncio.sleep(0)\nraise asyncio.CancelledError", "CancelledError")

    def test_exception_groups(self):
        import sys

        if sys.version_info >= (3, 11):
            self.check_error(
                "raise ExceptionGroup('two', [ValueError(1), KeyError(2)])", "ExceptionGroup", "ValueError", "KeyError"
            )

    def test_syntax(self):
        self.check_error("def f(:\n  pass", "SyntaxError", "line 1", "def f(:", "^")
        self.check_error("x = 1\nif x\n  pass", "SyntaxError", "line 2", "if x")
        self.check_error("if 1:\nx", "IndentationError", "line 2")
        self.check_error("break", "SyntaxError", "'break' outside loop", "line 1", "break")
        self.check_error("x = 1\nyield x", "SyntaxError", "'yield' outside function", "line 2")
        self.check_error("if 0:\n    return 1\nyield x", "SyntaxError", "'yield' outside function", "line 3")
        self.check_error("class A:\n    return 1", "SyntaxError", "'return' outside function")
        self.check_error("x = '\0'", "SyntaxError")
        self.check_error("nonlocal x", "SyntaxError")
        self.check_error("(" * 5000 + ")" * 5000, "SyntaxError")
        self.check_error("-" * 200000 + "1", "SyntaxError")
        self.check("'still here'", "still here")

    def test_syntax_error_of_the_programs_own_compile(self):
        self.check_error("compile('a b', 'inner', 'exec')", "SyntaxError", 'File "<program>", line 1')

    def test_exit(self):
        outcome = self.check_error("print('a')\nraise SystemExit(3)", "SystemExit", "exit status 3")
        self.assertEqual(outcome.stdout, b"a\n")
        self.check_error("import sys\nsys.exit('bad')", "SystemExit", "exit status 1", "bad")
        self.check_error("import asyncio\nawait asyncio.sleep(0)\nraise SystemExit(2)", "SystemExit", "exit status 2")
        self.check("import sys\nsys.exit()")
        self.check("import sys\nsys.exit(0)")
        self.check("exit(0)")
        self.check("result = 4\nraise SystemExit", 4)

    def test_missing_packages_name_the_remedy(self):
        import importlib.util

        missing = [
            name for name in ("numpy", "pandas", "openpyxl", "sklearn") if importlib.util.find_spec(name) is None
        ]
        for name in missing:
            self.check_error(f"import {name}", "ModuleNotFoundError", f"'{name}'", "codeyard python sync")
            self.check(f"import importlib.util\nimportlib.util.find_spec({name!r}) is None", True)
            self.check(
                f"try:\n    import {name}\nexcept ImportError as e:\n    print('sync' in str(e))", None, "True\n"
            )
        self.check_error("import nothing_of_that_name", "ModuleNotFoundError", "nothing_of_that_name")
