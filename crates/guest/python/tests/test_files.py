"""Tool files: calls, arguments and errors, without a sandbox."""

import json
import os
import shutil
import tempfile

from tests.host import GuestCase

_PREPARE = """
places.MOVED["/tools"] = {root!r}
"""

_FILES = {
    "add": ("def add(a, b=1, *, c=0):\n    'Adds.'\n    return a + b + c\n", ["a", "b"], ["a"]),
    "later": ("async def later(x):\n    return x * 2\n", ["x"], ["x"]),
    "fails": ("def fails():\n    return 1 / 0\n", [], []),
}


class Files(GuestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="tools-")
        self.addCleanup(shutil.rmtree, self.root)
        self.write({name: "1" for name in _FILES})
        self.guest = self.own_guest(answer=self.answer, prepare=_PREPARE.format(root=self.root))

    def write(self, hashes):
        os.makedirs(os.path.join(self.root, "s"), exist_ok=True)
        index = {}
        for name, (source, positional, required) in _FILES.items():
            with open(os.path.join(self.root, "s", f"{name}.py"), "w") as file:
                file.write(source)
            names = [*positional, "c"] if name == "add" else positional
            index[name] = {
                "file": f"s/{name}.py",
                "function": name,
                "hash": hashes[name],
                "names": names,
                "positional": positional,
                "required": required,
                "unnamed": [],
                "open": False,
            }
        with open(os.path.join(self.root, "files.json"), "w") as file:
            json.dump({"s": index}, file)

    def answer(self, name, args):
        """The host allows every call with the first content."""
        if name == "tools":
            return {"tools": [{"name": tool, "alias": tool} for tool in ("add", "new")]}
        return ["s", args["tool"].lower(), "1"]

    def test_arguments_are_bound_as_by_python_and_told_by_name(self):
        for code, told, result in (
            ("await tools.s.add(1)", {"a": 1}, 2),
            ("await tools.s.add(1, 2, c=3)", {"a": 1, "b": 2, "c": 3}, 6),
            ("await tools.s.add({'a': 1, 'c': 4})", {"a": 1, "c": 4}, 6),
            ("from servers.s import add\nadd(b=5, a=1)", {"a": 1, "b": 5}, 6),
            ("from servers.s import later\nlater('ab')", {"x": "ab"}, "abab"),
            ("await tools.s.later([1])", {"x": [1]}, [1, 1]),
            ("from servers.s.add import add\nadd(1)", {"a": 1}, 2),
            ("call_mcp_tool('s__add', {'a': 4})", {"a": 4}, 5),
        ):
            with self.subTest(code):
                self.guest.calls.clear()
                self.check(code, result)
                self.assertEqual([call[1]["args"] for call in self.guest.calls], [told])

    def test_what_cannot_be_bound_calls_nothing(self):
        for code, message in (
            ("from servers.s import add\nadd(1, 2, 3)", "servers.s.add takes 2 positional arguments but 3 were given"),
            ("from servers.s import add\nadd(1, a=2)", "servers.s.add got multiple values for argument 'a'"),
        ):
            self.guest.calls.clear()
            self.assertEqual(self.guest.run(code).error["message"], message)
            self.assertEqual(self.guest.calls, [])

    def test_an_exception_shows_the_line_of_the_file(self):
        error = self.guest.run("from servers.s import fails\nfails()").error
        self.assertEqual((error["kind"], error["message"]), ("ToolError", "s.fails: ZeroDivisionError: division by zero"))
        self.assertIn("/tools/s/fails.py\", line 2", error["traceback"])

    def test_another_content_than_the_host_allows_is_not_called(self):
        self.write({"add": "2", "later": "1", "fails": "1"})
        error = self.guest.run("from servers.s import add\nadd(1)").error
        self.assertIn("has changed since this run began", error["message"])

    def test_a_tool_is_looked_up_by_the_names_that_the_host_has_found(self):
        self.check("await tools.s.ADD({'a': 1})", 2)
        self.check("from servers.s import Add\nAdd(a=1, b=2)", 3)

    def test_a_file_that_comes_during_a_run_is_not_called(self):
        for code in ("await tools.s.new(a=1)", "from servers.s import new\nnew(a=1)"):
            error = self.guest.run(code).error
            self.assertEqual(error["kind"], "ToolError")
            self.assertEqual(error["message"], "s.new was added after this run began; run the program again")
