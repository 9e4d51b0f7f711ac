"""Results as JSON: every type has a valid form, whatever its size and shape."""

import json

from tests.host import GuestCase


class Types(GuestCase):
    def test_table(self):
        setup = """
import array, collections, dataclasses, datetime, decimal, enum, fractions, itertools, pathlib, re, types, uuid
class Color(enum.Enum):
    RED = 'red'
class Level(enum.IntEnum):
    LOW = 1
@dataclasses.dataclass
class Point:
    x: int
    inner: object = None
class Slots:
    __slots__ = ()
    def __repr__(self): return '<slots>'
class Bad:
    def __repr__(self): raise ValueError
Pair = collections.namedtuple('Pair', 'left right')
"""
        self.check(setup)
        for code, expected in (
            ("[None, True, 1, 1.5, 'x', [], {}]", [None, True, 1, 1.5, "x", [], {}]),
            ("(1, (2, [3]))", [1, [2, [3]]]),
            ("{3, 1, 2}", [1, 2, 3]),
            ("len({1, 'a'})", 2),
            ("frozenset('a')", ["a"]),
            ("range(3)", [0, 1, 2]),
            ("(n * n for n in range(3))", [0, 1, 4]),
            ("map(str, [1])", ["1"]),
            ("{'b': 1}.keys()", ["b"]),
            ("{'b': 1}.values()", [1]),
            ("{'b': 1}.items()", [["b", 1]]),
            ("collections.deque([1, 2])", [1, 2]),
            ("collections.Counter('aab')", {"a": 2, "b": 1}),
            ("collections.OrderedDict(a=1)", {"a": 1}),
            ("collections.ChainMap({'a': 1})", {"a": 1}),
            ("types.MappingProxyType({'a': 1})", {"a": 1}),
            ("array.array('i', [1])", [1]),
            ("Pair(1, Pair(2, 3))", {"left": 1, "right": {"left": 2, "right": 3}}),
            (
                "{1: 'a', None: 'b', True: 'c', 2.5: 'd', (1, 2): 'e'}",
                {"1": "c", "null": "b", "2.5": "d", "(1, 2)": "e"},
            ),
            ("{2024: 'int', '2024': 'str'}", {"2024": "int", "2024_2": "str"}),
            ("{'red': 1, Color.RED: 2, 'red_2': 3}", {"red": 1, "red_3": 2, "red_2": 3}),
            ("{None: 1, 'null': 2, 'null_2': 3}", {"null": 1, "null_3": 2, "null_2": 3}),
            ("{'in': {1: [1], '1': [2]}}", {"in": {"1": [1], "1_2": [2]}}),
            ("{Color.RED: Color.RED, datetime.date(2020, 1, 2): Level.LOW}", {"red": "red", "2020-01-02": 1}),
            ("datetime.datetime(2020, 1, 2, 3, 4, 5)", "2020-01-02T03:04:05"),
            ("datetime.date(2020, 1, 2)", "2020-01-02"),
            ("datetime.time(3, 4)", "03:04:00"),
            ("datetime.timedelta(hours=1)", "1:00:00"),
            ("decimal.Decimal('12.50')", "12.50"),
            ("fractions.Fraction(1, 3)", "Fraction(1, 3)"),
            ("uuid.UUID(int=1)", "00000000-0000-0000-0000-000000000001"),
            ("pathlib.Path('/x/y')", "/x/y"),
            ("Point(1, Point(2))", {"x": 1, "inner": {"x": 2, "inner": None}}),
            ("Slots()", "<slots>"),
            ("Bad()", "<Bad, whose repr raised ValueError>"),
            ("ValueError('v')", "ValueError: v"),
            ("b'text'", "text"),
            ("bytearray(b'x'), memoryview(b'y')", ["x", "y"]),
            ("b'\\xff\\x00'", "data:application/octet-stream;base64,/wA="),
            ("float('nan'), float('inf'), -float('inf')", [None, None, None]),
            ("2 ** 63, -2 ** 63, 2 ** 64 - 1", [2**63, -(2**63), 2**64 - 1]),
            ("2 ** 64, -2 ** 63 - 1", [str(2**64), str(-(2**63) - 1)]),
            ("complex(1, 2)", "(1+2j)"),
            ("1e308, 5e-324", [1e308, 5e-324]),
            ("'\\x00\\x1f\"\\\\'", '\x00\x1f"\\'),
            ("'\\ud83d\\ude00'", "\U0001f600"),
            ("'a\\udc80'", "a\ufffd"),
            ("{'\\ud800': 1}", {"\ufffd": 1}),
            ("int", "<class 'int'>"),
            ("Color", "<enum 'Color'>"),
        ):
            with self.subTest(code):
                self.check(code, expected)

    def test_huge_numbers(self):
        self.assertEqual(self.check("10 ** 4000", str(10**4000)).result, "1" + "0" * 4000)
        outcome = self.guest.run("1 << 100000")
        self.assertTrue(outcome.result.startswith(("0x1000", "99")), outcome)

    def test_text_of_any_kind(self):
        for value in ("", "größer", "\u2028", "a" * 100000, "\U0001f600" * 1000):
            self.check(f"{value!r}", value)


class Shapes(GuestCase):
    def test_circular(self):
        node = "import dataclasses\n@dataclasses.dataclass\nclass N:\n    next: object = None\nn = N()\nn.next = n\nn"
        for code in ("a = [1]\na.append(a)\na", "d = {}\nd['self'] = d\nd", node):
            outcome = self.guest.run(code)
            self.assertEqual(outcome.error["kind"], "ValueError", outcome)
            self.assertIn("the result contains itself", outcome.error["message"])
        self.check("s = [1]\n[s, s]", [[1], [1]])

    def test_deep(self):
        outcome = self.guest.run("x = 0\nfor _ in range(100000): x = [x]\nx")
        self.assertIsNone(outcome.error, outcome)
        self.assertLess(json.dumps(outcome.result).count("["), 120 + 200)

    def test_depth_that_fits_is_kept(self):
        expected = 0
        for _ in range(99):
            expected = [expected]
        self.check("x = 0\nfor _ in range(99): x = [x]\nx", expected)

    def test_exploding(self):
        self.check_error("x = []\nfor _ in range(60): x = [x, x]\nx", "TooLarge", "1,000,000 values", "/results")

    def test_endless(self):
        outcome = self.guest.run("import itertools\nitertools.count()")
        self.assertEqual(outcome.result["items"][-1], 99_999)
        self.assertEqual(
            outcome.result["note"], "the first 100,000 items; the count gives more, and what it gave is used up"
        )
        self.assertEqual(len(self.guest.run("iter(range(100_000))").result), 100_000)
        for code in ("range(200_000)", "dict.fromkeys(range(200_000)).keys()", "collections.deque(range(200_000))"):
            self.assertEqual(len(self.guest.run(f"import collections\n{code}").result), 200_000, code)
            self.check_error(f"import collections\n{code.replace('200_000', '2_000_000')}", "TooLarge", "1,000,000 values")

    def test_nothing_of_an_argument_is_cut(self):
        self.check_error("import itertools\nawait tools.stub.args(a=itertools.count())", "ValueError", "argument 'a'", "gives more than 100,000")

    def test_the_same_text_many_times(self):
        for text in ("'y' * 1_000_000", "b'y' * 1_000_000", "1 << 4_000_000", "type('S', (str,), {})('y' * 1_000_000)"):
            code = f"x = {text}\n[x] * 1000"
            self.check_error(code, "TooLarge", "more than 25,165,824 bytes; write them to a file in /results")
            self.check_error(code.replace("[x] * 1000", "[{'k': x}] * 1000"), "TooLarge")
        self.check_error("k = 'k' * 1_000_000\n[{k: 1}] * 1000", "TooLarge", "bytes")
        code = "import resource\nresource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 400_000"
        self.check(code, True)

    def test_files_are_not_read(self):
        self.check("f = open('/dev/zero', 'rb')\nstr(f)[:10]", "<_io.Buffe")
        self.assertIn("_io.BufferedReader", self.guest.run("f").result)

    def test_five_megabytes(self):
        self.check("'x' * 5_000_000", "x" * 5_000_000)
        outcome = self.guest.run("[{'id': n, 'name': 'name %d' % n, 'tags': ['a', 'b']} for n in range(80_000)]")
        self.assertEqual(len(outcome.result), 80_000)

    def test_too_large(self):
        self.check_error("'x' * 30_000_000", "ResultTooLarge", "30,000", "/results")
        self.check("1", 1)

    def test_conversion_that_fails_fails_the_run(self):
        self.check_error("def g():\n    yield 1\n    raise KeyError('inside')\ng()", "KeyError", "line 3, in g")

    def test_conversion_may_call_tools(self):
        self.check("(servers.stub.add(a=n, b=n).sum for n in range(3))", [0, 2, 4])

    def test_long_representations_are_cut(self):
        outcome = self.guest.run("class L:\n    def __repr__(self): return 'x' * 50_000\nL()")
        self.assertLess(len(outcome.result), 11_000)
