"""Frames: any cut of the stream gives the same messages."""

import json
import random
import unittest

from codeyard.frames import Unpacker, pack
from codeyard.values import Record

_MESSAGES = [{"t": "run", "id": n, "code": "x" * size} for n, size in enumerate((0, 1, 5, 100, 70_000, 3))]
_STREAM = b"".join(map(pack, _MESSAGES))


class Frames(unittest.TestCase):
    def check(self, pieces):
        unpacker = Unpacker()
        found = [message for piece in pieces for message in unpacker.feed(piece)]
        self.assertEqual(found, _MESSAGES)

    def test_whole(self):
        self.check([_STREAM])

    def test_frame_by_frame(self):
        self.check(map(pack, _MESSAGES))

    def test_byte_by_byte(self):
        self.check(_STREAM[at : at + 1] for at in range(len(_STREAM)))

    def test_random_cuts(self):
        rng = random.Random(3)
        for _ in range(50):
            cuts = sorted(rng.randrange(len(_STREAM)) for _ in range(20))
            self.check(_STREAM[start:end] for start, end in zip([0, *cuts], [*cuts, len(_STREAM)]))

    def test_chunk_grows_with_the_frame(self):
        unpacker = Unpacker()
        self.assertEqual(unpacker.chunk(), 16 * 1024)
        unpacker.feed((50_000_000).to_bytes(4, "little") + b"x")
        self.assertEqual(unpacker.chunk(), 1024 * 1024)

    def test_any_text(self):
        for value in ("", "ü😀\x00\u2028", "\ud83d\ude00", "a\udc80b", '"\\'):
            body = pack({"v": value})[4:]
            self.assertEqual(json.loads(body.decode())["v"], value.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))

    def test_objects_are_records(self):
        message = Unpacker().feed(pack({"a": {"b": [{"c": 1}]}}))[0]
        self.assertIs(type(message.a), Record)
        self.assertEqual(message.a.b[0].c, 1)
