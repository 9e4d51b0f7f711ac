"""The surface `server`: what programs return and print, and what tools answer."""

import unittest

from tests.host import Guest

SURFACE = {"name": "server"}


class ServerSurface(unittest.TestCase):
    def setUp(self):
        self.guest = Guest(surface=SURFACE)
        self.addCleanup(self.guest.close)

    def check(self, code, stdout):
        ran = self.guest.run(code)
        self.assertEqual((ran.stdout.decode(), ran.error, ran.has_result), (stdout, None, False), ran)

    def test_only_what_is_returned_is_printed(self):
        for code, stdout in (
            ("return {'é': [1, None]}", '{"é": [1, null]}\n'),
            ("print('x')\nreturn 5", "x\n5\n"),
            ("import datetime\nreturn datetime.datetime(2026, 1, 2)", '"2026-01-02 00:00:00"\n'),
            ("return {1, }", '"{1}"\n'),
            ("return 'text'", '"text"\n'),
            ("return None", ""),
            ("return", ""),
            ("5", ""),
            ("x = 5\nx", ""),
            ("result = 5", ""),
        ):
            with self.subTest(code):
                self.check(code, stdout)

    def test_images_are_shown_and_not_printed(self):
        ran = self.guest.run("return b'\\x89PNG\\r\\n\\x1a\\n' + bytes(20)")
        self.assertEqual((ran.stdout, [item["type"] for item in ran.content]), (b"", ["image"]), ran)

    def test_results_of_tools_are_objects(self):
        for code, stdout in (
            ("print(await tools.stub.echo(message='hi'))", "{'text': 'hi'}\n"),
            ("print(await tools.stub.echo(message=''))", "{}\n"),
            ("print(await tools.stub.echo(message='[1]'))", "[1]\n"),
            ("print(await __toolcall__('stub', 'echo', {'message': 'a'}))", "{'text': 'a'}\n"),
            ("from servers.stub import echo\nprint(echo(message='a').raw['content'][0]['text'])", "a\n"),
            ("print((await tools.stub.add(a=1, b=2)).sum)", "3\n"),
        ):
            with self.subTest(code):
                self.check(code, stdout)

    def test_mistakes_are_reported(self):
        for code, kind in (
            ("tools.stub.echo(message='hi')", "UnawaitedCall"),
            ("async def f(): pass\nf()", "UnawaitedCall"),
            ("raise SystemExit(3)", "SystemExit"),
            ("a = []\na.append(a)\nreturn a", "ValueError"),
        ):
            with self.subTest(code):
                self.assertEqual(self.guest.run(code).error["kind"], kind)
        self.check("print(1)", "1\n")
