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
        for value in ("", "ü\U0001f600\x00\u2028", "\ud83d\ude00", "a\udc80b", '"\\'):
            body = pack({"v": value})[4:]
            self.assertEqual(
                json.loads(body.decode())["v"], value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            )

    def test_objects_are_records(self):
        message = Unpacker().feed(pack({"a": {"b": [{"c": 1}]}}))[0]
        self.assertIs(type(message.a), Record)
        self.assertEqual(message.a.b[0].c, 1)


class NoMemory(unittest.TestCase):
    """A frame too large for memory fails its call, and the next frame is intact."""

    def check(self, unpacker, cut):
        first = pack({"t": "reply", "id": 7, "ok": "x" * 3_000_000})
        second = pack({"t": "run", "id": 8, "code": "y"})
        stream = first + second
        messages = [m for at in range(0, len(stream), cut) for m in unpacker.feed(stream[at : at + cut])]
        self.assertEqual([m["id"] for m in messages], [7, 8])
        self.assertEqual(messages[0].err["kind"], "memory")
        self.assertIn("3,000,0", messages[0].err["message"])
        self.assertEqual(messages[1], {"t": "run", "id": 8, "code": "y"})

    def test_while_it_arrives(self):
        class Full(bytearray):
            def __iadd__(self, more):
                if len(self) + len(more) > 2_000_000:
                    raise MemoryError
                return super().__iadd__(more)

        for cut in (100_000, 65_536, 999_999):
            unpacker = Unpacker()
            unpacker._rest = Full()
            unpacker.feed = self.keeping(unpacker, Full)
            self.check(unpacker, cut)

    @staticmethod
    def keeping(unpacker, kind):
        def feed(data):
            messages = Unpacker.feed(unpacker, data)
            if type(unpacker._rest) is bytearray:
                unpacker._rest = kind(unpacker._rest)
            return messages

        return feed

    def test_while_it_is_parsed(self):
        from codeyard import frames

        def full(text, at):
            if len(text) > 1_000_000:
                raise MemoryError
            return scan(text, at)

        scan, frames._scan = frames._scan, full
        try:
            self.check(Unpacker(), 65_536)
            self.check(Unpacker(), 10_000_000)
        finally:
            frames._scan = scan
