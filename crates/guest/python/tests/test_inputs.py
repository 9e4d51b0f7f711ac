"""Clock and randomness of recorded runs, and of runs that repeat them."""

import unittest

from tests.host import Guest

_READS = """
import os, random, secrets, time, uuid
from datetime import date, datetime, timezone
[
    time.time(), time.time_ns(), time.ctime(), list(time.localtime()), time.perf_counter(),
    str(datetime.now()), str(datetime.utcnow()), str(datetime.now(timezone.utc)), str(datetime.today()), str(date.today()),
    random.random(), random.Random().random(), os.urandom(8).hex(), secrets.token_hex(8),
    str(uuid.uuid4()), str(uuid.uuid1()), random.SystemRandom().random(),
]
"""


def run(inputs, *programs):
    """The outcomes of these programs in a new session."""
    with Guest() as guest:
        guest.inputs = inputs
        return [guest.run(program) for program in programs]


class Inputs(unittest.TestCase):
    def test_a_repeated_run_reads_what_was_read(self):
        inputs = {"seed": 12345, "clock": 1_700_000_000_000}
        [first] = run(inputs, _READS)
        self.assertIsNone(first.error, first)
        [again] = run({**inputs, "reads": first.reads}, _READS)
        self.assertEqual((again.result, again.reads), (first.result, first.reads))
        [other] = run({**inputs, "seed": 54321}, _READS)
        for one, another in zip(first.result[10:], other.result[10:]):
            self.assertNotEqual(one, another)

    def test_secrets_do_not_follow_from_the_seed(self):
        inputs = {"seed": 7, "clock": 0}
        drawn = [run(inputs, "import secrets\nsecrets.token_hex(16)")[0].result for _ in range(2)]
        self.assertNotEqual(*drawn)

    def test_a_session_is_seeded_once(self):
        code = "import random\nrandom.random()"
        one, two = run({"seed": 7, "clock": 0}, code, code)
        self.assertNotEqual(one.result, two.result)

    def test_the_clock_of_a_repeated_run_runs_on_from_its_list(self):
        code = "import time\n[time.time(), time.time() - 5 < 10]"
        [outcome] = run({"seed": 1, "clock": 3_000, "reads": {"wall": [5_000_000_000]}}, code)
        self.assertEqual(outcome.result, [5.0, True])
        [outcome] = run({"seed": 1, "clock": 3_000, "reads": {}}, "import time\nint(time.time())")
        self.assertEqual(outcome.result, 3)

    def test_lists_are_bounded(self):
        code = "import os, time, uuid\nfor _ in range(10_000): time.time(); os.urandom(10); uuid.uuid1()"
        [outcome] = run({"seed": 1, "clock": 0}, code)
        self.assertEqual(len(outcome.reads["wall"]), 4_000)
        self.assertLess(len(outcome.reads["bytes"]), 50_000)

    def test_a_spoiled_list_answers_nothing(self):
        for reads in [7, {"wall": 7}, {"fine": ["x"]}, {"bytes": "!!!"}, {"bytes": 7}]:
            [outcome] = run({"seed": 1, "clock": 3_000, "reads": reads}, "import time\nint(time.time())")
            self.assertEqual(outcome.result, 3, reads)

    def test_nothing_is_replaced_in_other_runs(self):
        code = "import time, os, datetime\n[type(each).__name__ for each in (time.time, os.urandom, datetime.datetime.now)]"
        [outcome] = run(None, code)
        self.assertEqual(outcome.result, ["builtin_function_or_method"] * 3)
        self.assertIsNone(outcome.reads)


if __name__ == "__main__":
    unittest.main()
