"""Limits: a refusal by the kernel is a clean error that names the limit, and the session continues."""

from tests.host import GuestCase


class Limits(GuestCase):
    def check_limit(self, code, kind, limit, guest=None):
        outcome = self.check_error(code, kind, guest=guest)
        self.assertEqual(outcome.error.get("limit"), limit, outcome)
        self.check("1 + 1", 2, guest=guest)
        return outcome

    def leave_room(self, guest, megabytes):
        """Limits the guest's address space to what it has and this much more."""
        self.check(
            "import resource\npages = int(open('/proc/self/statm').read().split()[0])\n"
            f"room = pages * resource.getpagesize() + ({megabytes} << 20)\n"
            "resource.setrlimit(resource.RLIMIT_AS, (room, resource.RLIM_INFINITY))",
            guest=guest,
        )

    def test_memory(self):
        guest = self.own_guest()
        self.leave_room(guest, 490)
        outcome = self.check_limit("print('before')\nx = bytearray(2 << 30)", "MemoryError", "memory", guest=guest)
        self.assertEqual(outcome.stdout, b"before\n")
        self.assertIn("line 2", outcome.error["traceback"])

    def test_memory_taken_piece_by_piece(self):
        for piece in ("bytes(1 << 20)", "[0] * 100", "object()", "str(len(held)) * 9", "{1: 2}"):
            with self.subTest(piece):
                guest = self.own_guest()
                self.leave_room(guest, 90)
                outcome = guest.run(f"print('before')\nheld = []\nwhile True: held.append({piece})")
                self.assertEqual(outcome.error["kind"], "MemoryError", outcome)
                self.assertEqual(outcome.error["limit"], "memory")
                self.assertEqual(outcome.stdout, b"before\n")
                self.check("del held\n1 + 1", 2, guest=guest)
                self.check("await tools.stub.echo(message='x')", "x", guest=guest)

    def test_memory_in_a_result(self):
        guest = self.own_guest()
        self.leave_room(guest, 30)
        self.check_limit("['x' * 1000 + str(n) for n in range(10)] * 2_000", "MemoryError", "memory", guest=guest)

    def test_memory_for_a_reply(self):
        guest = self.own_guest()
        self.leave_room(guest, 50)
        for code in ("await tools.stub.big(bytes=80_000_000)", "servers.stub.big(bytes=80_000_000)"):
            self.check_limit(code, "MemoryError", "memory", guest=guest)
            self.check("await tools.stub.echo(message='x')", "x", guest=guest)
        self.check(
            "try:\n    await tools.stub.big(bytes=80_000_000)\nexcept MemoryError as e:\n    r = str(e)[:19]\nr",
            "no memory is left f",
            guest=guest,
        )

    def test_open_files(self):
        guest = self.own_guest()
        self.check("import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))", guest=guest)
        self.check_limit("held = []\nwhile True: held.append(open('/dev/null'))", "OSError", "open_files", guest=guest)
        self.check("servers.stub.echo(message='x')", "x", guest=guest)
        self.check("held.clear()", guest=guest)
        self.check("await tools.stub.echo(message='x')", "x", guest=guest)

    def test_file_size(self):
        guest = self.own_guest()
        self.check(
            "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))", guest=guest
        )
        self.check_limit("with open('big', 'wb') as f: f.write(bytes(5000))", "OSError", "file_size", guest=guest)

    def test_disk_full(self):
        # The session's own file system has room, so the other one must be full.
        self.check_limit("with open('/dev/full', 'w') as f: f.write('x')", "OSError", "workspace")
        self.check_limit("import errno\nraise OSError(errno.EDQUOT, 'quota')", "OSError", "workspace")

    def test_no_inodes(self):
        # No file system here runs out of inodes quickly, so `statvfs` is replaced.
        guest = self.own_guest(
            prepare="real = os.statvfs\nos.statvfs = lambda path: type('S', (), dict(f_files=10, f_ffree=0, "
            "f_blocks=1, f_bfree=0, f_frsize=1))()"
        )
        self.check_limit("import errno\nraise OSError(errno.ENOSPC, 'full')", "OSError", "inodes", guest=guest)

    def test_processes(self):
        self.check_limit(
            "import subprocess\nsubprocess.run(['true'])\nraise BlockingIOError(11, 'Resource temporarily unavailable')",
            "BlockingIOError",
            "processes",
        )
        self.check_limit('raise RuntimeError("can\'t start new thread")', "RuntimeError", "processes")

    def test_threads(self):
        guest = self.own_guest()
        self.leave_room(guest, 290)
        code = "import threading\ngo = threading.Event()\nwhile True: threading.Thread(target=go.wait, daemon=True).start()"
        self.check_limit(code, "RuntimeError", "processes", guest=guest)
        self.check("go.set()", guest=guest)

    def test_not_a_limit(self):
        for code, kind in (
            ("raise BlockingIOError(11, 'x')", "BlockingIOError"),
            ("open('/nowhere')", "FileNotFoundError"),
            ("raise RuntimeError('x')", "RuntimeError"),
        ):
            self.assertNotIn("limit", self.check_error(code, kind).error)

    def test_inside_a_group(self):
        import sys

        if sys.version_info >= (3, 11):
            self.check_limit("raise ExceptionGroup('g', [ValueError(), MemoryError()])", "ExceptionGroup", "memory")

    def test_caught_by_the_program(self):
        self.check("try:\n    bytearray(1 << 60)\nexcept MemoryError:\n    r = 'caught'\nr", "caught")

    def test_recursion_limit_of_the_program(self):
        guest = self.own_guest()
        outcome = guest.run("import sys\nsys.setrecursionlimit(60)\ndef f(): f()\nf()")
        self.assertEqual(outcome.error["kind"], "RecursionError", outcome)
        self.assertIsNone(guest.run("sys.setrecursionlimit(1000)").error)
        self.check("1 + 1", 2, guest=guest)
