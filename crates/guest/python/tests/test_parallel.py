"""Concurrent calls and calls from elsewhere: loops, threads, after the run, forked processes."""

import os

from tests.host import PACKAGE, Gone, GuestCase, text, wait_until


class Parallel(GuestCase):
    def test_gather(self):
        self.check(
            "import asyncio\nr = await asyncio.gather(*[tools.stub.add(a=n, b=1) for n in range(100)])\nsum(x.sum for x in r)",
            5050,
        )

    def test_calls_are_bounded(self):
        guest = self.own_guest(concurrent=4)
        code = "import asyncio\nlen(await asyncio.gather(*[tools.stub.hold() for n in range(20)]))"

        def during(guest, _call):
            if len(guest.held) == 4 or len(guest.calls) == 20:
                for call in guest.held:
                    guest.reply(call, text("x"))
                guest.held.clear()

        outcome = guest.run(code, during)
        self.assertEqual(outcome.result, 20, outcome)
        self.assertEqual(guest.most_flying, 4)

    def test_really_at_once_and_out_of_order(self):
        guest = self.own_guest()

        def during(guest, _call):
            if len(guest.held) == 3:
                for call in reversed(guest.held):
                    guest.reply(call, text(str(call["args"]["args"]["n"])))
                guest.held.clear()

        outcome = guest.run("import asyncio\nawait asyncio.gather(*[tools.stub.hold(n=n) for n in range(3)])", during)
        self.assertEqual(outcome.result, [0, 1, 2])

    def test_blocking_calls_inside_a_running_loop(self):
        guest = self.own_guest()
        code = """
import asyncio
waiting = asyncio.ensure_future(tools.stub.hold(n=1))
await asyncio.sleep(0)
await asyncio.sleep(0)
first = servers.stub.hold(n=2)
return first, await waiting
"""

        def during(guest, _call):
            if len(guest.held) == 2:
                for call in guest.held:
                    guest.reply(call, text(f"answer {call['args']['args']['n']}"))
                guest.held.clear()

        self.assertEqual(guest.run(code, during).result, ["answer 2", "answer 1"])

    def test_threads(self):
        self.check(
            "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(8) as pool:\n"
            "    r = list(pool.map(lambda n: servers.stub.add(a=n, b=n).sum, range(200)))\nr == [2 * n for n in range(200)]",
            True,
        )

    def test_threads_and_loops_together(self):
        code = """
import asyncio, threading
from servers.stub import add as blocking
found = []
async def many(n):
    r = await asyncio.gather(*[tools.stub.add(a=n, b=k) for k in range(50)])
    found.append(sum(x.sum for x in r))
def plain(n):
    found.append(sum(blocking(a=n, b=k).sum for k in range(50)))
threads = [threading.Thread(target=lambda n=n: asyncio.run(many(n))) for n in range(3)]
threads += [threading.Thread(target=plain, args=(n,)) for n in range(3)]
for t in threads: t.start()
await many(3)
for n in range(20): blocking(a=1, b=1)
while any(t.is_alive() for t in threads): await asyncio.sleep(0.001)
return sorted(found) == sorted(sum(n + k for k in range(50)) for n in (0, 1, 2, 0, 1, 2, 3))
"""
        for _ in range(5):
            self.check(code, True)

    def test_asyncio_run_repeatedly(self):
        self.check(
            "import asyncio\nasync def main(n):\n    return (await tools.stub.add(a=n, b=1)).sum\n"
            "[asyncio.run(main(n)) for n in range(20)][-1]",
            20,
        )
        self.check("await tools.stub.add(a=1, b=1)", {"sum": 2})

    def test_timeouts_leave_the_channel_whole(self):
        guest = self.own_guest(concurrent=2)
        guest.begin("""
import asyncio
async def give_up():
    try:
        await asyncio.wait_for(tools.stub.hold(), 0.01)
    except asyncio.TimeoutError:
        return 'late'
r = await asyncio.gather(*[give_up() for _ in range(2)])
print('gave up')
return r, await tools.stub.echo(message='next')
""")
        held = [guest.wait_for_call(), guest.wait_for_call()]
        guest.wait_for_output(b"gave up")
        # The slots are only free again when the host has answered.
        for call in held:
            guest.reply(call, text("too late"))
        self.assertEqual(guest.finish().result, [["late", "late"], "next"])


class AfterTheRun(GuestCase):
    def test_calls_of_threads_end_with_the_run(self):
        guest = self.own_guest()
        code = """
import threading, queue
errors = queue.Queue()
def work():
    try:
        servers.stub.hold()
    except ToolError as e:
        errors.put((e.kind, str(e)))
t = threading.Thread(target=work)
t.start()
servers.stub.echo(message='x')
"""
        guest.begin(code)
        guest.wait_for_call()
        outcome = guest.finish()
        self.assertIsNone(outcome.error, outcome)
        outcome = guest.run("errors.get(timeout=10)")
        self.assertEqual(outcome.result, ["cancelled", "the run that made this call is over"], outcome)
        self.assertEqual(guest.run("t.join()\nservers.stub.echo(message='again')").result, "again")

    def test_calls_of_tasks_end_with_the_run(self):
        guest = self.own_guest()
        guest.run("import asyncio\ntask = asyncio.ensure_future(tools.stub.hold())\nawait asyncio.sleep(0.01)")
        outcome = guest.run("try:\n    await task\nexcept ToolError as e:\n    r = e.kind\nr")
        self.assertEqual(outcome.result, "cancelled", outcome)

    def test_calls_between_runs_are_refused(self):
        guest = self.own_guest()
        code = """
import os, threading, time
def work():
    while not os.path.exists('go'):
        time.sleep(0.002)
    try:
        servers.stub.echo(message='x')
    except ToolError as error:
        with open('found.part', 'w') as file:
            file.write(f'{error.kind}: {error}')
        os.rename('found.part', 'found')
threading.Thread(target=work, daemon=True).start()
"""
        self.assertIsNone(guest.run(code).error)
        open(guest.path("workspace", "go"), "w").close()
        wait_until(lambda: os.path.exists(guest.path("workspace", "found")))
        with open(guest.path("workspace", "found")) as file:
            self.assertIn("cancelled: no run is under way", file.read())
        self.assertEqual(guest.calls, [])
        self.assertEqual(guest.run("servers.stub.echo(message='in a run')").result, "in a run")

    def test_the_guest_ends_with_its_socket(self):
        guest = self.own_guest()
        guest._socket.shutdown(1)
        self.assertEqual(guest.process.wait(10), 0)

    def test_a_program_that_ends_the_process(self):
        guest = self.own_guest()
        with self.assertRaises(Gone) as gone:
            guest.run("import os\nprint('first')\nprint('second')\nos._exit(3)")
        self.assertEqual(gone.exception.args[0][0], b"first\nsecond\n")

    def test_a_program_that_closes_the_socket(self):
        guest = self.own_guest()
        with self.assertRaises(Gone):
            guest.run("import os\nos.close(3)")


class Forks(GuestCase):
    def test_a_child_cannot_call(self):
        code = """
import os
r, w = os.pipe()
if os.fork() == 0:
    try:
        servers.stub.echo(message='child')
    except ToolError as e:
        os.write(w, str(e).encode())
    os._exit(0)
os.wait()
os.read(r, 1000).decode()
"""
        outcome = self.guest.run(code)
        self.assertIn("a forked process cannot call tools", outcome.result, outcome)
        self.check("servers.stub.echo(message='parent')", "parent")

    def test_a_child_that_comes_back_ends_quietly(self):
        code = "import os\nprint('once')\npid = os.fork()\nif pid == 0:\n    print('child')\nelse:\n    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
        self.check(code, None, "once\nchild\n0\n")
        code = "import os\npid = os.fork()\nif pid == 0:\n    raise SystemExit(7)\nos.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])"
        self.check(code, 7)
        outcome = self.guest.run(
            "import os\npid = os.fork()\nif pid == 0:\n    1/0\nos.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])"
        )
        self.assertEqual(outcome.result, 1, outcome)
        self.assertIn(b"ZeroDivisionError", outcome.stderr)
        self.assertNotIn(PACKAGE.encode(), outcome.stderr)

    def test_multiprocessing(self):
        code = """
import multiprocessing
context = multiprocessing.get_context('fork')
def square(n):
    return n * n
with context.Pool(2) as pool:
    r = pool.map(square, range(5))
return r
"""
        self.check(code, [0, 1, 4, 9, 16])
        self.check(
            "from concurrent.futures import ProcessPoolExecutor\n"
            "with ProcessPoolExecutor(2, mp_context=context) as p:\n    r = list(p.map(square, [3]))\nr",
            [9],
        )
        self.check("await tools.stub.echo(message='after')", "after")

    def test_subprocess(self):
        self.check("import subprocess\nsubprocess.run(['echo', 'x'], capture_output=True, text=True).stdout", "x\n")
        self.check(
            "print('a')\nsubprocess.run(['sh', '-c', 'echo b; echo c >&2'])\nprint('d')", None, "a\nb\nd\n", "c\n"
        )
        self.check("import os\nprint('e', end='')\nos.system('echo f')", 0, "ef\n")
        self.check(
            "subprocess.run(['sh', '-c', 'ls /proc/self/fd | wc -l'], capture_output=True, text=True).stdout.strip() in '345'",
            True,
        )
