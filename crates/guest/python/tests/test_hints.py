"""Hints for mistakes that models often make."""

from tests.host import GuestCase


class Hints(GuestCase):
    def check_hint(self, code, kind, *words):
        message = self.guest.run(code).error["message"]
        outcome = self.check_error(code, kind, message)
        for word in words:
            self.assertIn(word, message, code)
        return outcome

    def test_a_package_that_is_not_installed(self):
        self.check_hint("import no_such_package", "ModuleNotFoundError", "it is not installed", "no network", "codeyard python add NAME")
        self.check_hint("from no_such_package.deep import x", "ModuleNotFoundError", "it is not installed")

    def test_a_module_of_the_program_has_no_hint(self):
        message = self.guest.run("import json.nothing").error["message"]
        self.assertNotIn("installed", message)

    def test_commands_of_a_notebook(self):
        for code in ("!ls", "%timeit 1", "pip install pandas", "x = 1\n!pip install pandas"):
            self.check_hint(code, "SyntaxError", "subprocess.run")

    def test_text_is_no_mapping(self):
        self.check_hint("'some text'['id']", "TypeError", "the value is text", "json.loads")
        self.check_hint("[row['id'] for row in 'text']", "TypeError", "the value is text")

    def test_await_in_a_plain_function(self):
        self.check_hint("def f():\n    await g()", "SyntaxError", "async def")

    def test_asyncio_run(self):
        code = "import asyncio\nasync def main(): pass\nawait asyncio.sleep(0)\nasyncio.run(main())"
        self.check_hint(code, "RuntimeError", "await main()")

    def test_a_call_that_is_indexed_before_it_is_awaited(self):
        self.check_hint("tools.stub.echo(message='x')['id']", "TypeError", "await the call first")
        self.check_hint("tools.stub.echo(message='x').items()", "AttributeError", "await the call first")

    def test_what_javascript_would_be(self):
        for code in ("const x = 1;", "let y = await f();", "import { z } from 'z'", "// a note", "f = x => x"):
            self.check_hint(code, "SyntaxError", "programs are Python")

    def test_input(self):
        self.check_hint("input()", "EOFError", "a program has no input")

    def test_files_that_are_not_there(self):
        self.check_hint("open('/home/me/a.csv')", "FileNotFoundError", "folders of the host are not here")
        self.check_hint("open('C:\\\\a.csv')", "FileNotFoundError", "folders of the host are not here")
        self.check_hint("open('b.csv')", "FileNotFoundError", "the current directory holds nothing")
        self.check_hint("open('a.csv', 'w').close()\nopen('b.csv')", "FileNotFoundError", "holds a.csv")
        self.check_hint("raise OSError(30, 'Read-only file system', '/etc/x')", "OSError", "write below /workspace")
        message = self.guest.run("open('/tmp/nothing')").error["message"]
        self.assertNotIn("(", message)

    def test_variables_of_the_host(self):
        self.check_hint("import os\nos.environ['API_KEY']", "KeyError", "no variables of the host")

    def test_values_that_are_data_or_text(self):
        self.check_hint("import json\njson.loads({})", "TypeError", "data already")
        self.check_hint("import json\njson.loads('<html>')", "JSONDecodeError", "it begins with '<html>'")
        self.check_hint("a, b = {'values': [1, 2]}.values", "TypeError", 'value["values"]')
        self.check_hint("{'items': []}.items[0]", "TypeError", 'value["values"]')
        self.check_hint("import ast\nast.literal_eval([])", "ValueError", "without ast.literal_eval")
        self.check_hint("await 'done'", "TypeError", "leave out await")

    def test_names_of_other_tools(self):
        self.check_hint("search_tools('x')", "NameError", "runtime.search_tools")
        self.check_hint("call_tool('x', {})", "NameError", "await tools.<server>.<tool>")
        self.check_hint("mcp.call_tool('x', {})", "AttributeError", "await tools.<server>.<tool>")
        self.check_hint("datetime.now()", "NameError", "import datetime first")

    def test_a_refused_socket(self):
        refuse = (
            "import socket\n"
            "def refuse(*a, **k): raise PermissionError(1, 'Operation not permitted')\n"
            "code = compile('def connect(refuse): refuse()', 'x/socket.py', 'exec')\n"
            "exec(code)\n"
        )
        self.check_hint(f"{refuse}connect(refuse)", "PermissionError", "no network")
        wrapped = "try: connect(refuse)\nexcept OSError as e: raise ConnectionError('cannot connect') from e"
        self.check_hint(refuse + wrapped, "ConnectionError", "no network")

    def test_a_file_that_may_not_be_read_is_no_socket(self):
        message = self.guest.run("raise PermissionError(1, 'no', 'file')").error["message"]
        self.assertNotIn("network", message)

    def test_the_answer_that_was_a_report_of_an_error(self):
        def told(text, code, **more):
            guest = self.own_guest(answer=lambda name, args: {"content": [{"type": "text", "text": text}], **more})
            return guest.run(code).error["message"]

        call = "rows = await tools.sqlite.read_query(query='WITH x')\n"
        message = told("Error: Only SELECT queries\nare allowed", call + "import ast\nast.literal_eval(rows)")
        self.assertTrue(message.endswith("(sqlite.read_query answered: Error: Only SELECT queries are allowed)"), message)
        for text in ("error: no", "Database error: no such table: x", "ValueError: x", "  Error executing x"):
            self.assertIn(f"(sqlite.read_query answered: {text.strip()})", told(text, call + "rows['id']"), text)
        for text in ("12 errors were found", "no error: all is well", "Terror", "[]"):
            self.assertNotIn("answered", told(text, call + "1/0"), text)
        self.assertLess(len(told("Error: " + "x " * 100_000, call + "1/0")), 300)
        # A failed call already reports this, and so does a run without a call.
        self.assertNotIn("answered", told("Error: no", call, isError=True))
        guest = self.own_guest(answer=lambda name, args: {"content": [{"type": "text", "text": "Error: no"}]})
        guest.run(call)
        self.assertNotIn("answered", guest.run("1/0").error["message"])

    def test_other_errors_have_no_hint(self):
        for code in ("1/0", "{}['x']", "x = = 1", "[].x"):
            self.assertNotIn("(", self.guest.run(code).error["message"].replace("(line", ""), code)


class Fences(GuestCase):
    def test_code_fences_around_a_program(self):
        for code in ("```python\n1 + 1\n```", "```\n1 + 1\n```\n", "\n```py\nx = 1\nx + 1\n```", "```Python3\n2\n```"):
            self.check(code, 2)

    def test_lines_keep_their_numbers(self):
        outcome = self.guest.run("```python\nx = 1\n1/0\n```")
        self.assertIn("line 3", outcome.error["traceback"])

    def test_fences_elsewhere_are_the_programs(self):
        self.check('"""\n```python\n```"""', "\n```python\n```")
        for code in ("```", "```python\n1 + 1", "```sql\nselect 1\n```"):
            self.assertEqual(self.guest.run(code).error["kind"], "SyntaxError", code)

    def test_carets_of_a_last_line_without_an_end(self):
        traceback = self.guest.run("x = {}\nx['a'] + (1 / 0)").error["traceback"]
        self.assertIn("^", traceback)
