"""Results on the surface `bridge`: values that also behave as MCP results."""

from tests.bridge_host import BridgeCase

# A tool's answer, and its value.
KINDS = (
    ("'plain text'", "'plain text'"),
    ("''", "''"),
    ("'[1, \"a\"]'", "[1, 'a']"),
    ("'[]'", "[]"),
    ('\'{"n": 1}\'', "{'n': 1}"),
    ("'5'", "5"),
    ("'0'", "0"),
    ("'2.5'", "2.5"),
    ("'true'", "True"),
    ("'false'", "False"),
    ("'null'", "None"),
)

# True for each kind; `r` is the result, `v` the value and `t` the tool's text.
FORMS = (
    "r['content'][0]['text'] == t",
    "r.content[0]['text'] == t",
    "r.get('content')[0]['text'] == t",
    "r['isError'] is False",
    "r.isError is False",
    "r.get('isError') is False",
    "r.get('isError', 'other') is False",
    "r['structuredContent'] is None",
    "r.get('structuredContent', 'other') == 'other'",
    "r.get('nothing') is None",
    "r.get('nothing', 'other') == 'other'",
    "not hasattr(r, 'nothing')",
    "r == v and v == r and not r != v",
    "bool(r) == bool(v)",
    "str(r) == str(v) and repr(r) == repr(v) and f'{r}' == str(v)",
    "json.loads(json.dumps(r)) == v",
    "json.dumps({'a': [r]}) == json.dumps({'a': [v]})",
    "json.dumps(r, indent=1) == json.dumps(v, indent=1)",
    "save_memory('k', r) and load_memory('k') == v and isinstance(load_memory('k'), type(v))",
    "copy.copy(r)['content'] == copy.deepcopy(r)['content'] == pickle.loads(pickle.dumps(r))['content'] == r['content']",
)

# True for every kind but text, where `in` looks for a substring.
MEMBERS = ("'content' in r", "'isError' in r", "'structuredContent' not in r", "'nothing' not in r")


class Forms(BridgeCase):
    def check_forms(self, answer, value, forms):
        call = f"mcp_stub.json(text={answer})"
        program = (
            f"import copy, json, pickle\nt, v = {answer}, {value}\nr = await {call}\n"
            f"for form in {forms!r}:\n    if not eval(form): print(form)"
        )
        self.shows(program)

    def test_every_form_of_every_kind(self):
        for answer, value in KINDS:
            with self.subTest(answer):
                is_text = value.startswith("'")
                self.check_forms(answer, value, FORMS if is_text else FORMS + MEMBERS)

    def test_in_of_a_text_looks_for_a_part_of_it(self):
        self.check_forms("'the content of it'", "'the content of it'", ("'content' in r", "'isError' not in r"))

    def test_keys(self):
        for answer in ("'5'", "'2.5'", "'true'", "'null'"):
            self.check_forms(answer, "0", ("r.keys() == ['content', 'isError']", "dict(r)['content'][0]['text'] == t"))
            self.fails(f"for x in await mcp_stub.json(text={answer}): pass", "TypeError", "not iterable")
        # `dict` treats an object with `keys` as a mapping.
        self.check_forms("'[[\"a\", 1]]'", "{'a': 1}", ("dict(r) == v", "['a', 1] in r"))
        self.check_forms("'{\"content\": 1, \"n\": 2}'", "['content', 'n']", ("list(r) == list(r.keys()) == v", "len(r) == 2"))

    def test_json_of_other_things_is_as_ever(self):
        self.shows(
            "class Own(json.JSONEncoder):\n    def default(self, o): return 'own' if o is Own else super().default(o)\n"
            "print(json.dumps([Own, await mcp_stub.json(text='null')], cls=Own))\n"
            "try: json.dumps(Own)\nexcept TypeError as e: print(e)",
            '["own", null]',
            "Object of type type is not JSON serializable",
        )


class Changed(BridgeCase):
    def test_the_programs_own_value_answers(self):
        # `m` is another key; the result has its own `content` beside the raw one.
        for change, item, own in (
            ("pass", "r['content'][0]['type']", "text own"),
            ("r['content'] = 5", "r['content']", "5 5"),
            ("r.update(content=6, m=1)", "r['content']", "6 6"),
            ("r.update({'content': 6})", "r.get('content')", "6 6"),
            ("r |= {'content': 7}", "r['content']", "7 7"),
            ("r['m'] = 1", "r['content'][0]['type']", "text own"),
            ("r.setdefault('content', 8)", "r['content'][0]['type']", "text own"),
            ("r.pop('m', None)", "r['content'][0]['type']", "text own"),
            ("del r['content']", "'content' in r", "False none"),
            ("r.pop('content')", "r.get('content', 'gone')", "gone none"),
            ("r.clear()", "'content' in r", "False none"),
            ("r.pop('n'), r.popitem()", "'content' in r", "False none"),
            ("r.pop('content'); r.setdefault('content', 8)", "r['content']", "8 8"),
            ("r['content'] = 9; r = __import__('copy').deepcopy(r)", "r['content']", "9 9"),
        ):
            with self.subTest(change):
                self.shows(
                    f"r = await mcp_stub.json(text='{{\"content\": \"own\", \"n\": 1}}')\n{change}\n"
                    f"print({item}, getattr(r, 'content', 'none'))",
                    own,
                )

    def test_what_is_removed_is_given_and_gone(self):
        self.shows(
            "r = await mcp_stub.json(text='{\"n\": 1}')\nprint(r.pop('content')[0]['type'], r.pop('content', 'gone'), r)\n"
            "del r['isError']\nfor remove in (r.pop, r.__delitem__):\n    for key in ('isError', 'nothing'):\n"
            "        try: remove(key)\n        except KeyError as e: print(e)",
            "text gone {'n': 1}",
            *["'isError'", "'nothing'"] * 2,
        )
