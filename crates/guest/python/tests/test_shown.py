"""What a run shows: blocks of tools' results that are no text, figures and images, and what becomes of those left unused."""

import base64

from tests.host import GuestCase, upstream
from tests.test_output import PNG


def b64(data):
    return base64.b64encode(data).decode()


def image(data=PNG, mime="image/png"):
    return {"type": "image", "mimeType": mime, "data": b64(data)}


def text(words):
    return {"type": "text", "text": words}


def link(uri, **more):
    return {"type": "resource_link", "uri": uri, "name": "a file", **more}


def resource(**fields):
    return {"type": "resource", "resource": {"uri": "file:///a", **fields}}


class Blocks(GuestCase):
    def run_with(self, code, *content, **result):
        """Runs a program beside a server whose every tool gives these blocks."""

        def answer(name, args):
            return {"content": list(content), **result} if name == "tool" else upstream(name, args)

        guest = self.own_guest(answer=answer)
        outcome = guest.run(code)
        self.assertIsNone(outcome.error, outcome)
        return outcome

    def kinds(self, outcome):
        return [part["type"] for part in outcome.content]

    def test_an_image_that_nobody_uses_is_named(self):
        outcome = self.run_with("x = await tools.web.shot()\nx", text("done"), image())
        # The run's result shows its image.
        self.assertEqual((outcome.result, self.kinds(outcome), outcome.unused), ("done", ["image"], []))
        outcome = self.run_with("x = await tools.web.shot()\nlen(x)", text("done"), image())
        told = f"web.shot gave 1 image (png, {len(PNG)} B): value.content[1]; show(value) returns it"
        self.assertEqual((outcome.result, outcome.content, outcome.unused), (4, [], [told]))

    def test_what_is_told_is_how_to_get_it(self):
        for code, kinds in (
            ("show(value)", ["image"]),
            ("show(value.content[1])", ["image"]),
            ("show(value.raw)", ["image"]),
            ("show([value])", ["image"]),
            ("len(value.content[1]['data'])", []),
            ("[block for block in value.content if block.type == 'image'][0].data[:4]", []),
        ):
            outcome = self.run_with(f"value = await tools.web.shot()\n{code}", text("done"), image())
            self.assertEqual((self.kinds(outcome), outcome.unused), (kinds, []), code)

    def test_looking_at_types_is_no_use(self):
        outcome = self.run_with("x = await tools.web.shot()\n[b.type for b in x.content]", text("done"), image())
        self.assertEqual((outcome.result, len(outcome.unused)), (["text", "image"], 1))

    def test_a_screenshot_is_one_line(self):
        outcome = self.run_with("await tools.web.shot()", image())
        self.assertEqual((outcome.has_result, self.kinds(outcome), outcome.unused), (False, ["image"], []))
        self.assertEqual(base64.b64decode(outcome.content[0]["data"]), PNG)

    def test_several_results(self):
        code = "import asyncio\nawait asyncio.gather(tools.web.shot(), tools.web.shot())"
        outcome = self.run_with(code, text("a"), image())
        self.assertEqual((outcome.result, self.kinds(outcome), outcome.unused), (["a", "a"], ["image"], []))
        outcome = self.run_with("for n in range(30): await tools.web.shot()\n1", text("a"), image())
        self.assertEqual((len(outcome.unused), outcome.unused[-1]), (11, "20 more results have such content"))

    def test_other_kinds(self):
        content = (
            {"type": "audio", "mimeType": "audio/wav", "data": b64(b"RIFF")},
            resource(text="few words", mimeType="text/plain"),
            resource(blob=b64(b"%PDF"), mimeType="application/pdf"),
            link("https://example.com/a.csv", mimeType="text/csv", size=12),
        )
        outcome = self.run_with("await tools.web.all()", text("all"), *content)
        self.assertEqual(self.kinds(outcome), ["audio", "resource", "resource", "link"])
        self.assertEqual(outcome.content[1], {"type": "resource", "uri": "file:///a", "mime": "text/plain", "text": "few words"})
        self.assertEqual(outcome.content[3]["size"], 12)
        outcome = self.run_with("x = await tools.web.all()\n0", text("all"), *content)
        told = "1 recording (wav, 4 B), 2 embedded resources (pdf, plain, 13 B), 1 link to a resource (csv): value.content; show(value) returns them"
        self.assertEqual(outcome.unused, [f"web.all gave {told}"])
        for code in ("print(x.content[1:])", "for block in x.content: print(block)", "print(f'{x.content}')"):
            outcome = self.run_with(f"x = await tools.web.all()\n{code}", text("all"), *content)
            self.assertEqual(outcome.unused, [], code)

    def test_an_image_beside_structured_content(self):
        outcome = self.run_with("x = await tools.web.shot()\nx['n']", text("{}"), image(), structuredContent={"n": 1, "content": 2})
        self.assertEqual(outcome.result, 1)
        self.assertIn('value.raw["content"][1]; show(value)', outcome.unused[0])
        outcome = self.run_with("x = await tools.web.shot()\nx + 1", text("41"), image())
        self.assertEqual(outcome.result, 42)
        self.assertIn("show(runtime.last_raw()) right after the call returns it", outcome.unused[0])

    def test_an_image_that_is_read_as_structured_content(self):
        more = {"type": "image", "data": b64(PNG), "mimeType": "image/png"}
        for structured, code in (
            ({"content": [more]}, "x['content'][0]['data']"),
            ({"content": [more]}, "x.raw['structuredContent'].content[0].data"),
            ({"result": {"shots": [{"name": "a", "data": more["data"]}]}}, "x.result.shots[0]['data']"),
            ({"data": more["data"], "page": 1}, "x['data']"),
            ({"data": more["data"], "page": 1}, "x.data"),
            ({"data": more["data"], "page": 1}, "x.content[0].data"),
        ):
            outcome = self.run_with(f"x = await tools.web.shot()\nlen({code})", image(), structuredContent=structured)
            self.assertEqual((outcome.result, outcome.unused), (len(more["data"]), []), code)
        for code in ("x['content'][0]['type']", "x.raw['content'][0].mimeType", "len(x)"):
            outcome = self.run_with(f"x = await tools.web.shot()\n{code}", image(), structuredContent={"content": [more]})
            self.assertEqual(len(outcome.unused), 1, code)
        outcome = self.run_with("x = await tools.web.shot()\nx", image(), structuredContent={"content": [more], "n": 1})
        self.assertEqual((outcome.result, outcome.unused), ({"content": [more], "n": 1}, []))

    def test_what_is_said_below_a_traceback_is_one_line(self):
        def answer(name, args):
            return {"content": [text("x"), image()]} if name == "tool" else upstream(name, args)

        for calls, expected in (
            (1, f"web.shot gave 1 image (png, {len(PNG)} B): value.content[1]; show(value) returns it"),
            (3, f"web.shot gave 1 image (png, {len(PNG)} B): value.content[1]; show(value) returns it; 2 more results have such content"),
        ):
            outcome = self.own_guest(answer=answer).run(f"for n in range({calls}): await tools.web.shot()\n1/0")
            self.assertEqual((outcome.error["kind"], outcome.unused), ("ZeroDivisionError", [expected]))

    def test_an_image_beside_an_error(self):
        code = "try:\n    await tools.web.shot()\nexcept ToolError as error:\n    print(error)\nshow(runtime.last_raw())"
        outcome = self.run_with(code, text("no page"), image(), isError=True)
        self.assertEqual((outcome.stdout, self.kinds(outcome)), (b"no page\n", ["image"]))

    def test_blocks_of_anything(self):
        outcome = self.run_with("await tools.web.odd()", image(b"", "../../etc"), {"type": "image", "data": "%%"}, {"type": "image"}, 7)
        self.assertEqual(self.kinds(outcome), ["text"], outcome)
        outcome = self.run_with("x = await tools.web.odd()\n0", {"type": "a\x1b[31m\nb" * 30, "x": 1})
        self.assertNotIn("\x1b", outcome.unused[0])
        self.assertLess(len(outcome.unused[0]), 300)

    def test_a_dict_of_the_program_is_its_result(self):
        for value in ({"type": "image", "url": "x"}, {"content": [1], "more": 2}, {"type": "resource", "resource": "x"}):
            outcome = self.run_with(repr(value))
            self.assertEqual((outcome.result, outcome.content), (value, []))

    def test_two_hundred_blocks(self):
        images = [image(PNG + bytes([n])) for n in range(100)]
        links = [link(f"https://example.com/{n}") for n in range(100)]
        outcome = self.run_with("await tools.web.many()", *images, *links)
        self.assertEqual(self.kinds(outcome), ["image"] * 10 + ["text"])
        words = outcome.content[-1]["text"]
        self.assertIn("saved as /results/shown-1-1.png (68 B)", words)
        self.assertIn("and 81 more", words)
        self.assertEqual(outcome.files, [])

    def test_words_about_blocks_are_bounded(self):
        content = [link("https://example.com/" + "x" * 3000), resource(text="\u00fc" * 900, mimeType="text/plain")]
        content += [{"type": "image", "mimeType": "image/png", "data": "%"}] * 50 + [image(bytes([n]), "image/x") for n in range(50)]
        outcome = self.run_with("await tools.web.many()", *content)
        texts = [part.get("text", "") + part.get("uri", "") + part.get("name", "") for part in outcome.content]
        self.assertLessEqual(sum(len(text.encode()) for text in texts), 4096)

    def test_an_image_of_fifty_megabytes(self):
        code = "x = await tools.web.shot()\nshow(x)\nimport os\nos.path.getsize(runtime.path('/results') + '/shown-1-1.png')"
        code = code.replace("runtime.path('/results')", "places.RESULTS").replace("import os", "import os; from codeyard import places")
        outcome = self.run_with(code, text("x"), image(PNG + bytes(20_000_000)))
        self.assertEqual((outcome.result, self.kinds(outcome)), (20_000_000 + len(PNG), ["text"]))
        self.assertEqual(outcome.content[0]["text"], "too large or too many to show, saved as /results/shown-1-1.png (20 MB)")

    def test_anything_else_is_printed(self):
        outcome = self.run_with("show('words', 3, [1])\nshow()")
        self.assertEqual((outcome.stdout, outcome.content), (b"words\n3\n[1]\n", []))


class Files(GuestCase):
    def files(self, code):
        outcome = self.guest.run(f"import os\nfrom codeyard import places\nR, S = places.RESULTS, places.SCRATCH\n{code}\nNone")
        self.assertIsNone(outcome.error, outcome)
        return dict(outcome.files)

    def test_wherever_they_are(self):
        code = "open('a.csv', 'w').write('123')\nopen(R + '/b', 'wb').write(b'1')\nopen(S + '/c.db', 'w').close()"
        self.assertEqual(self.files(code), {"/workspace/a.csv": 3, "/results/b": 1, "/scratch/c.db": 0})
        self.assertEqual(self.files("open('a.csv').read()"), {})
        self.assertEqual(self.files("open('a.csv', 'a').write('4')"), {"/workspace/a.csv": 4})
        self.assertEqual(self.files("open('/tmp/elsewhere', 'w').close()"), {})

    def test_however_they_came(self):
        for code, name in (
            ("open('t1', 'w').close(); os.rename('t1', 'renamed')", "renamed"),
            ("from pathlib import Path; Path('by_path').write_text('x')", "by_path"),
            ("fd = os.open('by_number', os.O_WRONLY | os.O_CREAT); os.close(fd)", "by_number"),
            ("import subprocess; subprocess.run(['sh', '-c', 'echo x > by_process'])", "by_process"),
            ("import sqlite3; c = sqlite3.connect('base.db'); c.execute('create table t (a)'); c.close()", "base.db"),
            ("import zipfile; z = zipfile.ZipFile('z.zip', 'w'); z.writestr('a', 'b'); z.close()", "z.zip"),
            ("os.makedirs('deep/er', exist_ok=True); os.chdir('deep'); open('er/x', 'w').close(); os.chdir('..')", "deep/er/x"),
        ):
            self.assertEqual(list(self.files(code)), [f"/workspace/{name}"], code)

    def test_a_file_of_a_run_is_no_file_of_the_next(self):
        self.files("import subprocess; subprocess.run(['sh', '-c', 'echo x > once'])")
        self.assertEqual(self.files("import subprocess; subprocess.run(['true'])"), {})

    def test_removed_and_special_ones_are_left_out(self):
        code = "open('gone', 'w').close(); os.remove('gone')\nos.symlink('/etc/passwd', 'link')\nopen('link').close()\nopen('/dev/null', 'w').close()"
        self.assertEqual(self.files(code), {})

    def test_an_image_anywhere_is_shown(self):
        outcome = self.guest.run(f"open('saved.png', 'wb').write(bytes.fromhex('{PNG.hex()}'))\nNone")
        self.assertEqual([part["type"] for part in outcome.content], ["image"])
        outcome = self.guest.run("show('saved.png')")
        self.assertEqual([part["type"] for part in outcome.content], ["image"])
