"""Results that are too large stay in the guest; possible binary content is kept beside the sent part."""

import json

from tests.host import GuestCase

_MANY = "[{'id': n} for n in range(3000)]"


class Handing(GuestCase):
    """The host sends a limit of 2,000 bytes of JSON with each run."""

    def run_with(self, code, most=2000, guest=None):
        guest = guest or self.guest
        guest.limits = {"output": 1 << 20, "concurrent_calls": 32, "result": most}
        return guest.run(code)

    def check_kept(self, code, kind, size, sample, most=2000):
        outcome = self.run_with(code, most)
        self.assertIsNone(outcome.error, outcome)
        self.assertFalse(outcome.has_result, outcome)
        kept = outcome.kept
        self.assertEqual((kept["kind"], kept["size"], kept["sample"]), (kind, size, sample))
        return kept["name"]

    def test_large_values(self):
        beginning = [{"id": n} for n in range(5)]
        for code, kind, size, sample in (
            (_MANY, "list", "3,000 items", beginning),
            ("[0] * 900", "list", "900 items", [0] * 5),
            ("'é' * 2001", "str", "2,001 characters", "é" * 1000 + "… (2,001 characters)"),
            ("{'a': 'x' * 3000}", "dict", "1 key (a: 3,000 characters), 3,008 bytes of JSON", {"a": "x" * 200 + "… (3,000 characters)"}),
            ("bytes(3000)", "bytes", "3,000 bytes", "<3,000 bytes: " + " ".join(["00"] * 16) + "…>"),
            ("tuple(range(3000))", "tuple", "3,000 items", [0, 1, 2, 3, 4]),
            ("dict.fromkeys(range(3000))", "dict", "3,000 keys", {str(n): None for n in range(30)}),
        ):
            with self.subTest(code):
                self.check_kept(code, kind, size, sample, 1000 if "900" in code else 2000)

    def kept_of(self, code):
        outcome = self.run_with(code)
        self.assertIsNone(outcome.error, outcome)
        return outcome.kept

    def test_a_beginning_is_as_short_as_the_host_allows(self):
        for code in (
            "['\\ud800' * 3000] * 9",
            "{('日本' * 90) + str(n): '日' * 300 for n in range(300)}",
            "{('\\U00020000' * 39) + str(n): [0] * 900 for n in range(9)}",
            "class Wide(list):\n    shape = (10 ** 4000,) * 8\nWide(range(3000))",
        ):
            with self.subTest(code):
                kept = self.kept_of(code)
                self.assertLessEqual(len(kept["size"].encode()), 600)
                self.assertLessEqual(len(json.dumps(kept.get("sample"), ensure_ascii=False).encode()), 8192)

    def test_iterators_are_not_used_up(self):
        for code, again, expected in (
            ("(list(range(1000)) for _ in range(1100))", "len(runtime.result()), runtime.result()[-1][-1]", [1100, 999]),
            ("{'rows': list(range(20000)), 'it': iter([1, 2, 3])}", "list(runtime.result()['it'])", [1, 2, 3]),
        ):
            with self.subTest(code):
                self.kept_of(code)
                self.assertEqual(self.run_with(again).result, expected)
        error = self.run_with("{'it': iter([1]), 'rows': list(range(1_000_001))}").error
        self.assertIn("iterators in it are used up; return lists", error["message"])
        # Each item alone fits.
        for code in ("[iter(['y' * 10**6] * 20) for _ in range(50)]", "[iter(range(100_000)) for _ in range(12)]"):
            with self.subTest(code):
                self.assertIn("iterators in it are used up; return lists", self.run_with(code).error["message"])

    def test_endless_iterators_are_told_as_such(self):
        kept = self.kept_of("import itertools\nnumbers = itertools.count()\nnumbers")
        note = "the first 100,000 items; the count gives more, and what it gave is used up"
        self.assertEqual(kept["sample"], {"items": [0, 1, 2, 3, 4], "note": note})
        self.assertEqual(kept["size"].split(",")[0], "2 keys (items: 100")
        again = self.run_with("len(runtime.result()['items']), next(numbers)").result
        self.assertEqual(again, [100_000, 100_001])
        kept = self.kept_of("{'texts': itertools.repeat('x' * 1000)}['texts']")
        self.assertIn("the repeat gives more", kept["sample"]["note"])
        kept = self.kept_of("{'numbers': itertools.count()}")
        self.assertEqual(kept["sample"]["numbers"]["note"], note)

    def test_nothing_is_cut_without_a_handle(self):
        for code, expected in (
            ("range(150_000)", 150_000),
            ("set(range(150_000))", 150_000),
        ):
            with self.subTest(code):
                outcome = self.run_with(code, 2_000_000)
                self.assertEqual((len(outcome.result), outcome.kept), (expected, None))
                self.kept_of(code)
                self.assertEqual(self.run_with("len(runtime.result())").result, expected)

    def test_the_same_text_many_times_is_not_written(self):
        guest = self.own_guest()
        peak = "import resource\nresource.getrusage(resource.RUSAGE_SELF).ru_maxrss"
        before = self.run_with(peak, guest=guest).result
        for code in (
            "x = ['y' * 1_000_000] * 1000\nx",
            "x = (text for text in ['y' * 1_000_000] * 1000)\nx",
            "x = [{'z' * 1_000_000: 1}] * 1000\nx",
        ):
            outcome = self.run_with(code, guest=guest)
            self.assertTrue(outcome.kept["size"].startswith("1,000 items"), outcome)
            self.assertLess(self.run_with(peak, guest=guest).result - before, 100_000, code)

    def test_results_of_tools_have_a_beginning(self):
        rows = [{"id": n, "text": "some words"} for n in range(3000)]
        code = f"import json\nawait tools.stub.json(text=json.dumps({rows!r}))"
        self.assertEqual(self.kept_of(code)["sample"], rows[:5])

    def test_first_keys(self):
        for code, expected in (
            ("{n: 'x' * 100 for n in range(99)}", "0"),
            ("{'it\\'s': 'x' * 3000}", '"it\'s"'),
            ("{'k' * 300: 'x' * 3000}", None),
            ("{(1, 2): 'x' * 3000}", None),
            ("set(range(3000))", None),
        ):
            with self.subTest(code):
                self.assertEqual(self.kept_of(code).get("first"), expected)

    def test_only_tables_are_asked_for_their_head(self):
        code = "class Log(list):\n    def head(self, n):\n        raise SystemExit\nclass Other:\n    head = Log.head\n[Other()] * 3000"
        self.assertEqual(len(self.kept_of(code)["sample"]), 5)

    def test_small_values_are_sent(self):
        for code, expected in (("1", 1), ("None", None), ("'x' * 1998", "x" * 1998), ("[1] * 900", [1] * 900)):
            outcome = self.run_with(code)
            self.assertEqual(outcome.result, expected)
            self.assertIsNone(outcome.kept)

    def test_without_an_agreement_everything_is_sent(self):
        self.guest.limits = None
        outcome = self.guest.run("'x' * 100_000")
        self.assertEqual((len(outcome.result), outcome.kept), (100_000, None))

    def test_programs_get_the_value_itself(self):
        name = self.run_with(f"value = {_MANY}\nvalue").kept["name"]
        outcome = self.run_with(f"runtime.result({name!r}) is value, runtime.result() is value, runtime.results()[-1]['name']")
        self.assertEqual(outcome.result, [True, True, name])

    def test_what_was_iterated_is_kept_as_a_list(self):
        name = self.run_with("{'numbers': iter(range(3000))}").kept["name"]
        self.assertEqual(self.run_with(f"runtime.result({name!r})['numbers'][-1]").result, 2999)

    def test_base64_is_sent_and_kept(self):
        code = "import base64, random\nbase64.b64encode(random.Random(1).randbytes(900)).decode()"
        outcome = self.run_with(code)
        self.assertEqual((len(outcome.result), list(outcome.kept)), (1200, ["name"]))
        for length in (400, 1000):
            self.assertIsNotNone(self.run_with(f"{code}[:{length}]").kept, length)
        self.assertIsNone(self.run_with("'\\x1b[31mred\\x1b[0m ' * 60").kept)
        for code in ("'some words ' * 150", "'0123456789abcdef-' * 100", "['x' * 70] * 20"):
            self.assertIsNone(self.run_with(code).kept, code)

    def test_printed_base64_has_a_copy(self):
        code = "import base64, random\nprint(base64.b64encode(random.Random(1).randbytes(900)).decode())"
        outcome = self.run_with(code)
        self.assertEqual(len(outcome.copied), 1)
        with open(self.guest.path("results", f"stdout-{self.guest._runs}.txt"), "rb") as file:
            self.assertEqual(file.read(), outcome.stdout)
        self.assertEqual(self.run_with("print('some words ' * 100)").copied, [])

    def test_old_ones_go_by_number_and_by_size(self):
        guest = self.own_guest()
        for _ in range(18):
            self.run_with("'x' * 3000", guest=guest)
        outcome = self.run_with("runtime.result('r1')", guest=guest)
        self.assertIn("result 'r1' is lost: newer ones have taken its place", outcome.error["message"])
        self.run_with("'x' * 140_000_000", guest=guest)
        self.assertEqual(self.run_with("len(runtime.results())", guest=guest).result, 1)
        for code, told in (
            ("runtime.result('nope')", "there is no result 'nope'; kept are r"),
            ("runtime.result('n' * 9999)", "there is no result 'nnn"),
        ):
            message = self.run_with(code, guest=guest).error["message"]
            self.assertIn(told, message)
            self.assertLess(len(message), 300)

    def test_the_newest_is_one_that_was_told(self):
        guest = self.own_guest()
        name = self.run_with("'x' * 3000", guest=guest).kept["name"]
        for _ in range(20):
            self.run_with("'\\\\x00' * 300", guest=guest)
        outcome = self.run_with(f"runtime.result() is runtime.result({name!r}), len(runtime.results())", guest=guest)
        self.assertEqual(outcome.result, [True, 17])

    def test_estimates_leave_the_others(self):
        guest = self.own_guest()
        self.run_with("'x' * 3000", guest=guest)
        for code in ("['y' * 1_000_000] * 1100", "['z' * 1_000_000] + [0] * 90_000"):
            self.run_with(code, guest=guest)
        self.assertEqual(self.run_with("len(runtime.results())", guest=guest).result, 3)

    def test_what_is_deep_inside_is_weighed(self):
        setup = """
import dataclasses
@dataclasses.dataclass
class Page:
    body: bytes
def page(): return Page(bytes(1_000_000))
"""
        for code in (
            "[page() for _ in range(100)]",
            "{'a': {'b': {'c': {'d': [bytes(1_000_000) for _ in range(100)]}}}}",
            "[{'id': n, 'big': bytes(100_000), 'small': 1, 'other': 2} for n in range(1000)]",
        ):
            with self.subTest(code):
                guest = self.own_guest()
                self.run_with(f"{setup}x = 'x' * 3000\nx", guest=guest)
                for _ in range(2):
                    self.run_with(code, guest=guest)
                self.assertEqual(self.run_with("[kept['name'] for kept in runtime.results()]", guest=guest).result, ["r3"])

    def test_a_failed_run_keeps_nothing(self):
        guest = self.own_guest()
        self.run_with("x = 'x' * 3000\n1 / 0", guest=guest)
        error = self.run_with("runtime.result()", guest=guest).error
        self.assertIn("no result is kept", error["message"])
