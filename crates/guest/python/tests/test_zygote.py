"""Before and after the fork: warming leaves nothing behind, and each fork is a session of its own."""

import json
import os
import socket
import subprocess
import sys
import unittest

from tests.host import PACKAGE, GuestCase

_WARM = """
import json, os, sys, threading, builtins, linecache, signal, asyncio
sys.path.insert(0, {package!r})
def state():
    return {{
        "fds": sorted(os.listdir("/proc/self/fd"))[:-1],
        "threads": os.listdir("/proc/self/task"),
        "streams": [id(s) for s in (sys.stdout, sys.stderr, sys.__stdout__)],
        "finders": len(sys.meta_path),
        "main": id(sys.modules["__main__"]),
        "builtins": [n for n in vars(builtins) if "warm" in n or n in ("result", "save_tool", "LOADED")],
        "environment": dict(os.environ),
        "scratch": places.SCRATCH,
        "raised": type(errors.failed_call("")).__name__,
        "sources": sorted(name for name in linecache.cache if "program" in name),
        "names": [n for n in sys.modules if n.split(".")[0] in ("tools", "servers", "mcp")],
        "handler": str(signal.getsignal(signal.SIGINT)),
        "random": hash(__import__("random").getstate()),
    }}
from codeyard import errors, places, runner
import random
before = state()
runner.warm()
after = state()
{more}
print(json.dumps([before, after]))
"""


class Warm(unittest.TestCase):
    def run_warm(self, more=""):
        program = _WARM.format(package=PACKAGE, more=more)
        done = subprocess.run([sys.executable, "-I", "-B", "-c", program], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def test_leaves_nothing_behind(self):
        before, after = self.run_warm()
        self.assertEqual(before, after)
        self.assertEqual(len(after["threads"]), 1)

    def test_twice(self):
        before, after = self.run_warm("runner.warm()\nafter = state()")
        self.assertEqual(before, after)

    def test_event_loops_of_programs_are_not_touched(self):
        # `asyncio.get_event_loop` outside of a coroutine must still create a loop where Python does so.
        made = (
            "try:\n    asyncio.get_event_loop_policy()._local._set_called\nexcept AttributeError:\n    called = False\n"
            "else:\n    called = asyncio.get_event_loop_policy()._local._set_called\nafter['random'] = before['random'] = called"
        )
        if sys.version_info < (3, 14):
            before, _ = self.run_warm(made)
            self.assertFalse(before["random"])


class Forked(GuestCase):
    @classmethod
    def setUpClass(cls):
        cls.prepare = "runner.warm()\nif os.fork():\n    os.close(3)\n    os.wait()\n    os._exit(0)"
        from tests.host import Guest

        cls.guest = Guest(prepare=cls.prepare)

    def test_programs_run(self):
        self.check("print('a')\nx = 3", None, "a\n")
        self.check("x + 1", 4)
        self.check("await tools.stub.add(a=1, b=2)", {"sum": 3})
        self.check("import asyncio\nlen(await asyncio.gather(*[mcp_stub.echo(message=str(n)) for n in range(50)]))", 50)
        self.check("servers.stub.echo(message='x')", "x")
        self.check_error("1/0", "ZeroDivisionError", 'File "<program>", line 1')

    def test_nothing_of_the_rehearsal_is_seen(self):
        self.check("[n for n in ('rows', 'x9', 'A', 'f', 'mcp_warm') if n in globals()]", [])
        self.check("runtime.last_raw()", None, guest=self.own_guest(prepare=self.prepare))
        self.check("import sys\n[n for n in sys.modules if 'warm' in n]", [])

    def test_version(self):
        self.assertEqual(self.guest.ready, {"t": "ready", "v": 1, "interpreter": "CPython " + ".".join(map(str, sys.version_info[:3]))})


class Handshake(unittest.TestCase):
    def test_another_version_is_refused(self):
        ours, theirs = socket.socketpair()
        program = (
            f"import sys, os\nsys.path.insert(0, {PACKAGE!r})\nos.dup2({theirs.fileno()}, 3)\n"
            "from codeyard import runner\nrunner.serve(3)"
        )
        process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-c", program], pass_fds=[theirs.fileno()], stderr=subprocess.PIPE
        )
        theirs.close()
        body = b'{"t":"open","v":2,"session":{"session":"s","output":1,"concurrent_calls":1}}'
        ours.sendall(len(body).to_bytes(4, "little") + body)
        _, stderr = process.communicate(timeout=30)
        ours.close()
        self.assertEqual(process.returncode, 1)
        self.assertIn(b"version 2 of the frames", stderr)

    def test_a_guest_without_a_host_ends(self):
        ours, theirs = socket.socketpair()
        program = f"import sys, os\nsys.path.insert(0, {PACKAGE!r})\nfrom codeyard import runner\nrunner.serve({theirs.fileno()})"
        process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-c", program], pass_fds=[theirs.fileno()], stderr=subprocess.DEVNULL
        )
        theirs.close()
        ours.close()
        self.assertIsNotNone(process.wait(30))


if __name__ == "__main__":
    unittest.main(argv=[os.path.basename(__file__)])
