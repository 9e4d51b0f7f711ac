"""The memory of the surface `bridge`: JSON values that outlive the session."""

from tests.bridge_host import BridgeCase, Store


class Memory(BridgeCase):
    def test_from_session_to_session(self):
        # C322
        store = Store()
        first, second = self.session(store), self.session(store)
        self.shows(
            "print(save_memory('a/b', {'n': [1, 2.5, None, True, 'x']}, metadata={'tags': ['t']}))",
            "Memory 'a/b' saved.",
            guest=first,
        )
        self.shows("print(runtime.save_memory('a_b', 2))", "Memory 'a_b' saved.", guest=first)
        self.shows(
            "v = load_memory('a/b')\nprint(v, v == {'n': [1, 2.5, None, True, 'x']})",
            "{'n': [1, 2.5, None, True, 'x']} True",
            guest=second,
        )
        self.shows(
            "print(load_memory('a_b'), load_memory('x'), load_memory('x', default=[]))", "2 None []", guest=second
        )
        self.shows("print(memory_exists('a/b'), memory_exists('x'))", "True False", guest=second)
        self.shows(
            "print([(m['key'], m['metadata']) for m in list_memories()])",
            "[('a/b', {'tags': ['t']}), ('a_b', {})]",
            guest=second,
        )
        self.shows("print(update_memory('a_b', lambda v: v + 1), load_memory('a_b'))", "3 3", guest=second)
        self.shows(
            "print(delete_memory('a/b'))\nprint(delete_memory('a/b'))",
            "Memory 'a/b' deleted.",
            "Memory 'a/b' not found.",
            guest=second,
        )
        self.shows("print(list_memories()[0]['key'], load_memory('a/b', default='gone'))", "a_b gone", guest=first)

    def test_information(self):
        self.shows(
            "save_memory('k', 5, metadata={'by': 'me'})\ni = get_memory_info('k')\nprint(sorted(i), i['value'], i['metadata'], type(i).__name__)",
            "['bytes', 'created_at', 'key', 'metadata', 'updated_at', 'value', 'version'] 5 {'by': 'me'} dict",
        )
        self.shows("print(get_memory_info('nothing'))", "None")
        self.guest.calls.clear()
        self.shows("print(memory_exists('k'))", "True")
        self.assertEqual(self.made("memory_load"), [{"key": "k", "head": True}])
        self.shows(
            "save_memory('k', 0)\nprint(memory_exists('k'), load_memory('k', default=7), get_memory_info('k')['metadata'])",
            "True 0 {}",
        )
        self.shows(
            "save_memory('none', None)\nprint(memory_exists('none'), load_memory('none', default=7))", "True None"
        )

    def test_update(self):
        self.shows("print(update_memory('new', lambda v: [v]))", "[None]")
        self.shows(
            "save_memory('kept', [1], metadata={'m': 1})\nprint(update_memory('kept', lambda v: v + [2]), get_memory_info('kept')['metadata'])",
            "[1, 2] {'m': 1}",
        )
        self.fails("update_memory('kept', lambda v: 1 / 0)", "ZeroDivisionError")
        self.fails("async def f(v): return v\nupdate_memory('kept', f)", "RefusedError", "plain function")
        self.fails("update_memory('kept', 5)", "RefusedError", "expects a function")
        self.shows("print(load_memory('kept'))", "[1, 2]")

    def test_update_against_another_session(self):
        store = Store()
        first, second = self.session(store), self.session(store)
        first.run("save_memory('n', 0)")

        def interfere(guest, call):
            if call["name"] == "memory_load" and len(others) < 3:
                others.append(second.run("update_memory('n', lambda v: v + 10)").error)

        others = []
        outcome = first.run("print(update_memory('n', lambda v: v + 1))", during=interfere)
        self.assertEqual((outcome.stdout, others), (b"31\n", [None] * 3))

    def test_update_that_never_comes_through(self):
        guest = self.session()
        guest.run("save_memory('n', 0)")

        def interfere(guest, call):
            if call["name"] == "memory_load":
                guest.answer.store.memory["n"] = {**guest.answer.store.memory["n"], "version": call["id"] + 10_000}

        outcome = guest.run("update_memory('n', lambda v: v)", during=interfere)
        self.assertIn("changed by others all the time", outcome.error["message"])

    def test_values_that_are_no_json(self):
        for value, *parts in (
            ("object()", "value is a object"),
            ("{'rows': [{'when': {1}}]}", "value['rows'][0]['when'] is a set"),
            ("[float('nan')]", "value[0] is nan"),
            ("float('-inf')", "value is -inf"),
            ("{1: 2}", "value has a key that is a int: 1"),
            ("{'a': {None: 2}}", "value['a'] has a key that is a NoneType"),
            ("[b'x']", "value[0] is a bytes"),
            ("'\\ud800'", "value is text with half a character"),
            ("{'\\ud800': 1}", "a key of value"),
            ("2 ** 64", "64 bits"),
            ("__import__('datetime').date(2000, 1, 1)", "value is a date"),
            ("save_memory", "value is a function"),
        ):
            with self.subTest(value):
                self.fails(f"save_memory('k', {value})", "RefusedError", "JSON", *parts)
        self.fails("x = []\nx.append(x)\nsave_memory('k', x)", "RefusedError", "value[0][0]", "contains itself")
        self.fails("save_memory('k', 1, metadata=[1])", "RefusedError", "metadata is a dict, not list")
        self.fails("save_memory('k', 1, metadata={'x': {2}})", "RefusedError", "metadata['x'] is a set")
        self.assertEqual(self.made("memory_save"), [])

    def test_values_that_stand_for_json(self):
        self.shows(
            "import collections, enum\nclass E(str, enum.Enum): A = 'a'\n"
            "save_memory('k', {'t': (1, 2), 'd': collections.OrderedDict(a=1), 'e': E.A, 'b': 2 ** 64 - 1, 'n': -2 ** 63})\n"
            "print(load_memory('k'))",
            "{'t': [1, 2], 'd': {'a': 1}, 'e': 'a', 'b': 18446744073709551615, 'n': -9223372036854775808}",
        )
        self.shows(
            "r = await mcp_stub.json(text='[null, 5, {\"a\": 1}]')\nsave_memory('r', r)\nprint(load_memory('r') == r)",
            "True",
        )
        self.shows("save_memory('n', await mcp_stub.json(text='null'))\nprint(get_memory_info('n')['value'])", "None")

    def test_keys(self):
        for key in ("5", "None", "b'x'", "['a']"):
            self.fails(f"load_memory({key})", "RefusedError", "a memory's key is a string")
        for call in ("save_memory('', 1)", "save_memory('k' * 300, 1)"):
            self.fails(call, "RefusedError", "1 to 100 characters")
        for kind in ("ValueError", "MCPError", "ToolError", "RuntimeError", "runtime.RefusedError"):
            self.shows(f"try: save_memory('', 1)\nexcept {kind} as e: print(e.kind)", "refused")
        self.fails("save_memory('\\ud800', 1)", "RefusedError", "the key is text with half a character")

    def test_default_and_metadata_are_named(self):
        self.fails("load_memory('k', 5)", "TypeError")
        self.fails("save_memory('k', 5, {})", "TypeError")
