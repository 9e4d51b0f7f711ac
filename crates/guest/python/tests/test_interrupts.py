"""SIGINT: ends a program anywhere, keeps the session, and never tears a frame."""

import random
import time

from tests.host import GuestCase, text, upstream, wait_until


class Interrupted(GuestCase):
    def interrupt(self, code, wait=None, guest=None):
        guest = guest or self.guest
        guest.begin("kept = 1\nprint('started', flush=True)\n" + code)
        guest.wait_for_output(b"started")
        if wait is not None:
            wait(guest)
        guest.interrupt()
        outcome = guest.finish()
        self.assertIsNotNone(outcome.error, outcome)
        self.assertEqual(outcome.error["kind"], "KeyboardInterrupt", outcome)
        self.assertEqual(outcome.error["message"], "the run was interrupted")
        after = self.check("import gc\ngc.collect()\nNone", guest=guest)
        self.assertNotIn(b"never retrieved", after.stderr)
        self.check("kept + 1", 2, guest=guest)
        self.check("await tools.stub.echo(message='a')", "a", guest=guest)
        self.check("servers.stub.echo(message='b')", "b", guest=guest)
        return outcome

    def test_tight_loop(self):
        code = "def f():\n    while True:\n        print('in the loop', flush=True)\n        while True: pass\nf()"
        outcome = self.interrupt(code, wait=lambda guest: guest.wait_for_output(b"in the loop"))
        self.assertIn("in f", outcome.error["traceback"])

    def test_tight_loop_in_async_code(self):
        self.interrupt("import asyncio\nawait asyncio.sleep(0)\nwhile True: pass")

    def test_sleep(self):
        self.interrupt("import time\ntime.sleep(60)")

    def test_await(self):
        self.interrupt("import asyncio\nawait asyncio.sleep(60)")
        self.interrupt("import asyncio\nasyncio.run(asyncio.sleep(60))")

    def test_awaited_call(self):
        self.interrupt("await tools.stub.hold()", wait=lambda guest: guest.wait_for_call())

    def test_the_place_where_it_waited_is_told(self):
        code = "async def find(name):\n    return await tools.stub.hold()\n\nawait find('ana')"
        outcome = self.interrupt(code, wait=lambda guest: guest.wait_for_call())
        places = [line.strip() for line in outcome.error["traceback"].splitlines() if line.startswith("  ")]
        places = [line for line in places if set(line) - set("~^")]
        self.assertEqual(
            places,
            [
                'File "<program>", line 6, in <module>',
                "await find('ana')",
                'File "<program>", line 4, in find',
                "return await tools.stub.hold()",
            ],
        )

    def test_gathered_calls(self):
        self.interrupt(
            "import asyncio\nawait asyncio.gather(*[tools.stub.hold() for _ in range(50)])",
            wait=lambda guest: [guest.wait_for_call() for _ in range(32)],
        )

    def test_blocking_call(self):
        self.interrupt("servers.stub.hold()", wait=lambda guest: guest.wait_for_call())

    def test_blocking_call_in_a_loop(self):
        self.interrupt(
            "import asyncio\nt = asyncio.ensure_future(tools.stub.hold())\nawait asyncio.sleep(0.01)\nservers.stub.hold()",
            wait=lambda guest: [guest.wait_for_call() for _ in range(2)],
        )

    def test_blocking_call_beside_a_reading_thread(self):
        self.interrupt(
            "import threading\nthreading.Thread(target=lambda: servers.stub.hold(), daemon=True).start()\nservers.stub.hold()",
            wait=lambda guest: [guest.wait_for_call() for _ in range(2)],
        )

    def test_join_of_a_thread(self):
        self.interrupt(
            "import threading, time\nt = threading.Thread(target=time.sleep, args=(60,), daemon=True)\nt.start()\nt.join()"
        )

    def test_subprocess(self):
        self.interrupt("import subprocess\nsubprocess.run(['sleep', '60'])")

    def test_output(self):
        outcome = self.interrupt("while True: print('line')", wait=lambda guest: guest.wait_for_output(b"line"))
        self.assertTrue(outcome.stdout.startswith(b"started\nline\n"), outcome)

    def test_result_that_never_ends(self):
        self.interrupt("def g():\n    while True:\n        pass\n    yield\ng()")

    def test_clean_up_runs(self):
        for wait in ("while True: pass", "await asyncio.sleep(60)", "servers.stub.hold()", "time.sleep(60)"):
            outcome = self.interrupt(
                f"import asyncio, time\ntry:\n    print('inside', flush=True)\n    {wait}\nfinally:\n    print('cleaned')",
                wait=lambda guest: guest.wait_for_output(b"inside"),
            )
            self.assertIn(b"cleaned", outcome.stdout)

    def test_a_program_may_catch_it_and_end(self):
        self.guest.begin(
            "try:\n    print('started', flush=True)\n    while True: pass\nexcept KeyboardInterrupt:\n    r = 'caught'\nr"
        )
        self.guest.wait_for_output(b"started")
        self.guest.interrupt()
        self.assertEqual(self.guest.finish().result, "caught")

    def test_handler_of_the_program_is_replaced_at_the_next_run(self):
        self.check("import signal\nold = signal.signal(signal.SIGINT, signal.SIG_IGN)\n1", 1)
        self.interrupt("while True: pass")

    def test_unanswered_calls_leave_room_for_others(self):
        guest = self.own_guest(concurrent=1)
        for _ in range(3):
            self.interrupt("servers.stub.hold()", wait=lambda guest: guest.wait_for_call(), guest=guest)


class Idle(GuestCase):
    def test_ignored_between_runs(self):
        for _ in range(20):
            self.guest.interrupt()
            self.check("1 + 1", 2)

    def test_ignored_before_the_first_run(self):
        guest = self.own_guest()
        guest.interrupt()
        self.check("1", 1, guest=guest)

    def test_at_the_very_end_of_a_run(self):
        for _ in range(200):
            self.guest.begin("print('x')")
            self.guest.interrupt()
            outcome = self.guest.finish()
            self.assertTrue(outcome.error is None or outcome.error["kind"] == "KeyboardInterrupt", outcome)
        self.check("1 + 1", 2)


class AnyMoment(GuestCase):
    """Interrupts at random moments of programs that call and print constantly; a second for each program."""

    def storm(self, code, rounds=60):
        guest = self.own_guest()
        rng = random.Random(7)
        guest.run("n = 0")
        for number in range(rounds):
            guest.begin(code)
            end = time.monotonic() + rng.random() * 0.015
            # In the first round the program's loop completes at least once, even on a slow machine.
            least = 30 if number == 0 else 1
            while least > 0 or time.monotonic() < end:
                guest.wait_for_call()
                least -= 1
            guest.interrupt()
            outcome = guest.finish()
            # Python's own locks may be torn; then another error follows the interrupt.
            self.assertIn("KeyboardInterrupt", outcome.error["traceback"], outcome)
        self.check("servers.stub.echo(message='whole')", "whole", guest=guest)
        self.check("await tools.stub.echo(message='whole')", "whole", guest=guest)
        self.check("n > 0", True, guest=guest)

    def test_blocking_calls(self):
        self.storm("while True:\n    assert servers.stub.add(a=n, b=1).sum == n + 1\n    n += 1")

    def test_awaited_calls(self):
        self.storm("while True:\n    assert (await tools.stub.add(a=n, b=1)).sum == n + 1\n    n += 1")

    def test_gathered_calls(self):
        self.storm(
            "import asyncio\nwhile True:\n    r = await asyncio.gather(*[tools.stub.add(a=n, b=k) for k in range(10)])\n"
            "    assert [x.sum for x in r] == [n + k for k in range(10)]\n    n += 1"
        )

    def test_calls_and_prints(self):
        self.storm("while True:\n    print('x' * 100)\n    servers.stub.echo(message='y' * 5000)\n    n += 1")

    def test_large_frames(self):
        self.storm(
            "while True:\n    assert len(servers.stub.echo(message='y' * 1_000_000)) == 1_000_000\n    n += 1",
            rounds=15,
        )

    def test_threads(self):
        self.storm(
            """
import threading
stop = False
def work():
    while not stop:
        try:
            servers.stub.echo(message='t')
        except ToolError:
            break
t = threading.Thread(target=work)
t.start()
try:
    while True:
        servers.stub.echo(message='m')
        n += 1
finally:
    stop = True
    t.join()
""",
            rounds=30,
        )


class FullSockets(GuestCase):
    def test_a_host_that_reads_late(self):
        """The guest writes more than the socket holds, while the host writes too: neither may wait for the other."""
        guest = self.own_guest(
            answer=lambda name, args: text("z" * 300_000) if name == "tool" else upstream(name, args)
        )
        code = "import asyncio\nr = await asyncio.gather(*[tools.stub.echo(message='y' * 300_000) for _ in range(32)])\nsum(map(len, r))"
        guest.begin(code)
        first = guest.wait_for_call()
        self.assertEqual(first["name"], "tool")
        self.assertEqual(guest.finish().result, 32 * 300_000)

    def test_interrupt_while_the_host_does_not_read(self):
        guest = self.own_guest()
        guest.begin("print('started', flush=True)\nservers.stub.echo(message='y' * 20_000_000)")
        guest.wait_for_output(b"started")
        wait_until(guest.is_stuck)
        guest.interrupt()
        # The rest of the frame comes before the end of the run.
        frame = guest._next()
        self.assertEqual(len(frame["args"]["args"]["message"]), 20_000_000)
        outcome = guest.finish()
        self.assertEqual(outcome.error["kind"], "KeyboardInterrupt", outcome)
        self.check("servers.stub.echo(message='b')", "b", guest=guest)
