"""Resources of servers: a program's view of them, and the failure of answers outside the protocol."""

from tests.host import Guest, GuestCase


class Resources(GuestCase):
    def reading(self, answer):
        guest = Guest(answer=lambda name, args: answer)
        self.addCleanup(guest.close)
        return guest

    def test_parts(self):
        code = "from mcp import resources\nread = resources.read_sync('x://1')\ntype(read).__name__, str(read), len(read)"
        for contents, expected in (
            ([{"uri": "x://1", "text": "hello"}], ["Content", "hello", 5]),
            ([{"uri": "x://1", "blob": "aGk="}], ["Blob", "b'hi'", 2]),
            ([], ["Items", "[]", 0]),
        ):
            with self.subTest(contents):
                self.check(code, expected, guest=self.reading({"contents": contents}))

    def test_answers_of_another_shape(self):
        for contents in ([{"blob": "a"}], [{"blob": 5}], ["text"], 5, [None]):
            with self.subTest(contents):
                self.check_error(
                    "from mcp import resources\nresources.read_sync('x://1')",
                    "ToolError",
                    "the server's answer does not match the protocol",
                    guest=self.reading({"contents": contents}),
                )


class Completion(GuestCase):
    def asked(self, code):
        guest = Guest(answer=lambda name, args: {"completion": {"values": ["a", "b"], "total": 2}})
        self.addCleanup(guest.close)
        self.check(code, ["a", "b"], guest=guest)
        return guest.calls[-1]

    def test_what_is_asked(self):
        self.assertEqual(
            self.asked("from mcp import prompts\nprompts.complete_sync('stub', 'greet', 'who', 'A', {'tone': 'kind'})"),
            (
                "completion",
                {"server": "stub", "name": "greet", "argument": "who", "value": "A", "args": {"tone": "kind"}},
            ),
        )
        self.assertEqual(
            self.asked("from mcp import resources\nawait resources.complete('x://{id}', 'id')"),
            ("completion", {"template": "x://{id}", "argument": "id", "value": ""}),
        )

    def test_what_is_missing_or_odd(self):
        for answer in ({}, {"completion": None}, {"completion": {"values": 5}}):
            with self.subTest(answer):
                guest = Guest(answer=lambda name, args, answer=answer: answer)
                self.addCleanup(guest.close)
                code = "from mcp import prompts\nprompts.complete_sync('stub', 'greet', 'who')"
                self.check_error(code, "ToolError", "does not match the protocol", guest=guest)
        self.check_error("from mcp import prompts\nprompts.complete_sync('stub', None, 'who')", "ToolError", "'name' is missing")
