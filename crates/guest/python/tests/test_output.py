"""Output: both streams, binary bytes, long output and its full copy, artifacts and images."""

import base64
import os

from tests.host import PNG, GuestCase


class Streams(GuestCase):
    def test_apart(self):
        self.check("import sys\nprint('o')\nprint('e', file=sys.stderr)", None, "o\n", "e\n")

    def test_without_a_line_end(self):
        self.check("print('a', end='')", None, "a")
        self.check("import sys\nfor n in range(3):\n    sys.stdout.write(str(n))", None, "012")

    def test_binary(self):
        outcome = self.guest.run("import sys\nsys.stdout.buffer.write(bytes(range(256)) * 10)")
        self.assertEqual(outcome.stdout, bytes(range(256)) * 10)
        self.assertEqual(outcome.result, 2560)
        outcome = self.guest.run(
            "import sys, array\nsys.stderr.buffer.write(bytearray(b'\\xff\\n'))\nsys.stderr.buffer.write(array.array('H', [1]))"
        )
        self.assertEqual(outcome.stderr, b"\xff\n\x01\x00")

    def test_text_and_binary_keep_their_order(self):
        self.check("import sys\nprint('a', end='')\nsys.stdout.buffer.write(b'b')\nprint('c')\nNone", None, "abc\n")

    def test_surrogates(self):
        self.check("print('a\\ud800b')", None, "a\\ud800b\n")
        self.check("import os\nprint(os.fsdecode(b'x\\xff'))", None, "x\\udcff\n")

    def test_large(self):
        outcome = self.check("print('x' * 1048576)")
        self.assertEqual(outcome.stdout, b"x" * 1048576 + b"\n")
        outcome = self.check("import sys\nsys.stderr.write('e' * 300000)\nprint('done')\nNone", None, "done\n")
        self.assertEqual(len(outcome.stderr), 300000)
        outcome = self.check("for n in range(50000):\n    print(n)")
        self.assertEqual(outcome.stdout, "".join(f"{n}\n" for n in range(50000)).encode())

    def test_other_processes_in_order(self):
        self.check(
            "import os\nfor n in range(100): print('a')\nos.system('echo b')\nprint('c')", None, "a\n" * 100 + "b\nc\n"
        )

    def test_printed_before_a_call_is_out_before_it(self):
        guest = self.own_guest()
        guest.begin("for n in range(100): print(n, end=' ')\nawait tools.stub.hold()")
        call = guest.wait_for_call()
        guest.wait_for_output(b"99")
        guest.reply(call, {"content": []})
        guest.finish()

    def test_first_lines_go_out_at_once(self):
        guest = self.own_guest()
        guest.begin("print('partial')\nprint('more')\nimport time\ntime.sleep(60)")
        guest.wait_for_output(b"more\n")
        guest.interrupt()
        self.assertEqual(guest.finish().error["kind"], "KeyboardInterrupt")

    def test_replaced_streams(self):
        self.check("import sys, io\nsys.stdout = io.StringIO()\nprint('lost')", None, "")
        self.check("print('fresh')", None, "fresh\n")
        self.check("import sys\nsys.stdout = open('log.txt', 'w')\nprint('to the file')", None, "")
        self.check("open('log.txt').read()", "to the file\n")
        self.check("import sys\nsys.stdout.close()\nsys.stderr.close()")
        self.check("import sys\nprint('again')\nprint('both', file=sys.stderr)", None, "again\n", "both\n")
        self.check("import sys\nb = sys.stdout.detach()")
        self.check("print('attached')", None, "attached\n")
        self.check("import sys\nsys.stdout = None\nsys.stderr = 5")
        self.check("print('back')", None, "back\n")

    def test_redirected(self):
        self.check(
            "import contextlib, io\nb = io.StringIO()\nwith contextlib.redirect_stdout(b):\n    print('in')\nprint('out')\nb.getvalue()",
            "in\n",
            "out\n",
        )

    def test_flush_and_fileno(self):
        self.check(
            "import sys\nprint('a', flush=True)\nsys.stdout.fileno(), sys.stderr.fileno(), sys.stdout.isatty(), sys.stdout.encoding",
            [1, 2, False, "utf-8"],
            "a\n",
        )

    def test_stdin_is_empty(self):
        self.check_error("input()", "EOFError")

    def test_finalizers_that_print(self):
        code = """
class Loud:
    def __init__(self): self.me = self
    def __del__(self): print('gone')
for n in range(2000): Loud()
import gc
gc.collect()
None
"""
        self.assertEqual(self.check(code).stdout, b"gone\n" * 2000)

    def test_threads_that_print(self):
        outcome = self.check(
            "import threading\nt = [threading.Thread(target=lambda: [print('line') for _ in range(500)]) for _ in range(4)]\n"
            "for x in t: x.start()\nfor x in t: x.join()"
        )
        self.assertEqual(outcome.stdout.count(b"line"), 2000)
        self.assertEqual(outcome.stdout.count(b"\n"), 2000)

    def test_closed_descriptor(self):
        guest = self.own_guest()
        guest.run("import os\nos.close(1)\nprint('nowhere')")
        self.assertEqual(guest.run("1 + 1").result, 2)


class FullCopy(GuestCase):
    @classmethod
    def setUpClass(cls):
        from tests.host import Guest

        cls.guest = Guest(output=1000)

    def test_beyond_the_limit_all_of_it_is_in_results(self):
        outcome = self.check("for n in range(300): print('line', n)")
        name = f"stdout-{self.guest._runs}.txt"
        self.assertEqual((outcome.copied, outcome.artifacts), (["stdout"], []))
        with open(self.guest.path("results", name), "rb") as file:
            self.assertEqual(file.read(), outcome.stdout)

    def test_standard_error_too(self):
        outcome = self.check("import sys\nsys.stderr.write('x' * 5000)\nNone")
        name = f"stderr-{self.guest._runs}.txt"
        self.assertEqual((outcome.copied, outcome.artifacts), (["stderr"], []))
        self.assertEqual(os.path.getsize(self.guest.path("results", name)), 5000)

    def test_up_to_the_limit_there_is_no_copy(self):
        self.assertEqual(self.check("print('word ' * 90)").copied, [])
        self.assertEqual(self.check("print('word ' * 90)").copied, [])
        self.assertEqual(self.check("print('x' * 499)").copied, [])

    def test_few_bytes_of_many_tokens_have_a_copy(self):
        self.assertEqual(self.check("print('[]' * 480)").copied, ["stdout"])

    def test_both_streams_together_are_bounded(self):
        code = "import sys\nfor s in (sys.stdout, sys.stderr): print('word ' * 199 + 'end', file=s)"
        self.assertEqual(self.own_guest(output=1900).run(code).copied, ["stdout", "stderr"])

    def test_a_failing_run_has_its_copy(self):
        outcome = self.check_error("print('x' * 5000)\n1/0", "ZeroDivisionError")
        self.assertEqual(outcome.copied, ["stdout"])

    def test_a_full_disk_fails_nothing(self):
        code = """
import resource, signal
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
for n in range(100): print('x' * 100)
"""
        guest = self.own_guest(output=1000)
        outcome = guest.run(code)
        self.assertIsNone(outcome.error, outcome)
        self.assertEqual(len(outcome.stdout), 10100)
        self.assertEqual(outcome.copied, [])
        self.assertEqual(os.path.getsize(guest.path("results", "stdout-1.txt")), 2000)

    def test_results_that_cannot_be_written(self):
        guest = self.own_guest(output=1000)
        os.rmdir(guest.path("results"))
        outcome = guest.run("print('x' * 5000)")
        self.assertIsNone(outcome.error, outcome)
        self.assertEqual(outcome.copied, [])


class Artifacts(GuestCase):
    def in_results(self, code):
        return f"R = {self.guest.path('results')!r} + '/'\nimport os\n{code}"

    def test_made_changed_and_untouched(self):
        make = "os.makedirs(R + 'sub/deep', exist_ok=True)\nfor n in ('b.txt', 'a.txt', 'sub/deep/c.csv'): open(R + n, 'w').write('1')\nNone"
        self.assertEqual(self.check(self.in_results(make)).artifacts, ["a.txt", "b.txt", "sub/deep/c.csv"])
        self.assertEqual(self.check("1", 1).artifacts, [])
        self.assertEqual(
            self.check(self.in_results("open(R + 'sub/deep/c.csv', 'w').write('22')\nNone")).artifacts,
            ["sub/deep/c.csv"],
        )
        self.assertEqual(self.check(self.in_results("os.remove(R + 'a.txt')")).artifacts, [])

    def test_symbolic_links_are_left_out(self):
        outcome = self.check(
            self.in_results(
                "os.symlink('/etc/passwd', R + 'link.png')\nos.symlink('/etc', R + 'dir')\nos.mkfifo(R + 'fifo.png')"
            )
        )
        self.assertEqual((outcome.artifacts, outcome.content), ([], []))

    def test_bounded(self):
        guest = self.own_guest()
        outcome = guest.run(
            f"import os\nfor n in range(1500): open({guest.path('results')!r} + f'/{{n}}', 'w').close()"
        )
        self.assertEqual(len(outcome.artifacts), 1000)

    def test_names_that_are_no_text(self):
        guest = self.own_guest()
        outcome = guest.run(f"open({os.fsencode(guest.path('results'))!r} + b'/\\xff', 'w').close()")
        self.assertEqual(len(outcome.artifacts), 1, outcome)

    def test_disk(self):
        self.assertGreater(self.check("1", 1).disk, 0)


class Images(GuestCase):
    def check_images(self, code, *mimes):
        outcome = self.guest.run(code)
        self.assertIsNone(outcome.error, outcome)
        self.assertEqual([item["mime"] for item in outcome.content if item["type"] == "image"], list(mimes))
        return outcome

    def test_bytes_as_result(self):
        outcome = self.check_images(f"bytes.fromhex('{PNG.hex()}')", "image/png")
        self.assertEqual(outcome.result, f"<image/png {len(PNG)} bytes>")
        self.assertEqual(base64.b64decode(outcome.content[0]["data"]), PNG)
        self.check_images("b'\\xff\\xd8\\xff\\xe0rest'", "image/jpeg")
        self.check_images("b'<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>'", "image/svg+xml")
        self.check_images("b'<?xml version=\"1.0\"?>\\n<svg></svg>'", "image/svg+xml")
        self.check_images(f"{{'chart': bytes.fromhex('{PNG.hex()}'), 'n': 1}}", "image/png")
        self.check_images("b'plain'")

    def test_files(self):
        results = self.guest.path("results")
        outcome = self.check_images(
            f"open('{results}/a.png', 'wb').write(bytes.fromhex('{PNG.hex()}'))\nopen('{results}/b.txt', 'w').write('x')",
            "image/png",
        )
        self.assertEqual(outcome.artifacts, ["a.png", "b.txt"])
        self.check_images("1")
        self.check_images(f"open('{results}/c.png', 'w').write('no image')")

    def test_the_same_image_once(self):
        results = self.guest.path("results")
        self.check_images(
            f"d = bytes.fromhex('{PNG.hex()}')\nopen('{results}/same.png', 'wb').write(d)\n[d, d]", "image/png"
        )

    def test_bounded(self):
        outcome = self.check_images(
            f"d = bytes.fromhex('{PNG.hex()}')\n[d + bytes([n]) for n in range(12)]", *["image/png"] * 10
        )
        self.assertIn("saved as /results/shown-1-1.png", outcome.content[-1]["text"])
        outcome = self.check_images(f"d = bytes.fromhex('{PNG.hex()}')\nd + bytes(6_000_000)")
        self.assertIn("shown-2-1.png (6.0 MB)", outcome.content[-1]["text"])
