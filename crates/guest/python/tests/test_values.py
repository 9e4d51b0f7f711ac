"""A call's value: native values, the values of `mcp_<alias>`, errors."""

from tests.host import GuestCase, text


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
        self.check(
            self.value({"content": [image, {"type": "text", "text": "t"}]}, "v, v.raw.content[0]['data']"),
            ["t", "aGk="],
        )

    def test_blocks_that_are_none(self):
        self.check(self.value({}, "v is None"), True)
        self.check(self.value({"content": None}, "v is None"), True)
        self.check(self.value({"content": "all of it"}), "all of it")
        self.check(self.value({"content": 5}), 5)
        self.check(self.value({"content": [None, 5, "x", {"type": "text", "text": "t"}]}), "t")
        self.check(self.value({"content": [{"type": "text", "text": None}]}), [{"type": "text", "text": None}])
        self.check(self.value({"content": [{"type": "text"}]}, "v.raw.content == v"), True)
        self.check_error(self.value({"isError": True, "content": "boom"}), "ToolError", "boom")
        nothing = {"isError": True, "content": [{"type": "text", "text": 5}]}
        self.check_error(self.value(nothing), "ToolError", "stub.raw reported an error")

    def test_attributes(self):
        record = text('[{"id": 1, "items": 2, "in": {"deep": 3}, "raw": 4}]')
        self.check(
            self.value(record, "v[0].id, v[0]['items'], callable(v[0].items), v[0]['in'].deep, v[0].raw"),
            [1, 2, True, 3, 4],
        )
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
        self.check(
            self.value(text('{"a": {"b": 1}}'), code),
            ['{"a": {"b": 1}}', True, 1, True, True, True, value, {**value, "c": 1}, "{'a': {'b': 1}}"],
        )
        self.check(
            self.value(text("abc"), "v[:2], 'b' in v, v + 'd', f'{v}', type(v.upper()).__name__, {v: 1}['abc']"),
            ["ab", True, "abcd", "abc", "str", 1],
        )
        self.check(self.value(text("[3, 1]"), "sorted(v), v + [2], len(v), [*v]"), [[1, 3], [3, 1, 2], 2, [3, 1]])
        self.check(self.value(text('{"a": 1}'), "match v:\n    case {'a': x}: pass\nx"), 1)

    def test_bridge(self):
        def bridge(result, code):
            return f"v = await mcp_stub.raw(result={result!r})\n{code}"

        block = [{"type": "text", "text": "abc"}]
        self.check(
            bridge(text("abc"), "v[:2], 'b' in v, v['content'], v['isError'], v['structuredContent'], v.content"),
            ["ab", True, block, False, None, block],
        )
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
        self.check("await tools.stub.echo(message='größer \U0001f600 \\x00')", "größer \U0001f600 \x00")


class Failures(GuestCase):
    def test_a_tool_that_reports_an_error(self):
        self.check_error("await tools.stub.fail(message='nope')", "ToolError", "\nToolError: nope\n", "line 1")
        self.check(
            "try:\n    await tools.stub.fail({'message': 'nope'})\nexcept Exception as e:\n    print('caught', 'nope' in str(e))",
            None,
            "caught True\n",
        )
        self.check(
            "try:\n    servers.stub.fail(message='n')\nexcept ToolError as e:\n"
            "    r = e.server, e.tool, e.message, e.kind, e.retryable, e.hint\nr",
            ["stub", "fail", "n", "tool", False, None],
        )
        self.check("runtime.last_raw()['isError']", True)

    def test_a_call_that_the_host_refuses(self):
        self.check_error("await tools.stub.ecko(message='x')", "ToolError", "not mounted", "did you mean 'echo'?")
        self.check_error("await tools.nowhere.echo()", "ToolError", "no server 'nowhere'")
        self.check_error("await tools.stub.denied()", "ToolError", "denied by policy")
        self.check(
            "try:\n    await tools.stub.busy()\nexcept ToolError as e:\n    r = e.kind, e.retryable, e.server, e.tool\nr",
            ["upstream", True, "stub", "busy"],
        )

    def test_limit_of_calls(self):
        self.assertEqual(self.check_error("await tools.stub.limit()", "ToolError").error["limit"], "host_calls")

    def test_only_own_lines_in_the_traceback(self):
        outcome = self.check_error(
            "async def f():\n    return await tools.stub.fail()\nawait f()", "ToolError", "line 2, in f", "line 3"
        )
        self.assertEqual(outcome.error["traceback"].count("File "), 2)

    def test_pickles(self):
        self.check(
            "import pickle\ntry:\n    await tools.stub.ecko()\nexcept ToolError as e:\n    e2 = pickle.loads(pickle.dumps(e))\n"
            "    r = e2.kind, e2.hint, str(e2) == str(e)\nr",
            ["unknown_tool", "did you mean 'echo'?", True],
        )
