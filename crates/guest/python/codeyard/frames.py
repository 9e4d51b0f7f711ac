"""Frames between guest and host: a little-endian `u32` length, then that many bytes of JSON."""

import json.encoder
import re
from json import JSONDecoder, JSONEncoder

from codeyard.values import Record

VERSION = 1
MAX_FRAME = 96 * 1024 * 1024

_CHUNK = 16 * 1024
_LARGE_CHUNK = 1024 * 1024


def _refuse(value):
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def _make_encoder():
    """One C encoder for the life of the process; `JSONEncoder.encode` would create one for each frame."""
    make = json.encoder.c_make_encoder
    if make is None:
        return JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
    quote = json.encoder.encode_basestring
    encoder = make(None, _refuse, quote, None, ":", ",", False, False, False)
    return lambda message: "".join(encoder(message, 0))


encode = _make_encoder()
_scan = JSONDecoder(object_hook=Record).scan_once


def pack(message):
    """The bytes of a frame. Lone surrogates, which UTF-8 lacks, become replacement characters."""
    text = encode(message)
    try:
        body = text.encode()
    except UnicodeEncodeError:
        # UTF-16 joins surrogate pairs, so that only lone surrogates are replaced.
        body = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    return len(body).to_bytes(4, "little") + body


class Unpacker:
    """Splits a stream of bytes into messages; objects become `Record`.

    Without memory for a frame, its call fails and the stream continues after it.
    """

    def __init__(self):
        self._rest = bytearray()
        self._missing = 0
        self._skipping = 0
        self._skipped = None

    def chunk(self):
        """The number of bytes to read next."""
        return max(_CHUNK, min(self._missing, _LARGE_CHUNK))

    def feed(self, data):
        """Takes bytes and returns the messages that they complete."""
        if self._skipping:
            return self._skip(data)
        if self._rest:
            try:
                self._rest += data
            except MemoryError:
                self.give_up()
                return self._skip(data)
            data = self._rest
        elif int.from_bytes(data[:4], "little") == len(data) - 4:
            return [_parse(data, 4, len(data))]  # One whole frame, as nearly always.
        messages = []
        start, size, end = 0, len(data), 4
        while size >= end:
            end += int.from_bytes(data[start : start + 4], "little")
            if size < end:
                break
            if start == 0 and size == end and size > _LARGE_CHUNK:
                # A large frame must not be in memory twice during parsing.
                text, self._rest, self._missing = _text(data, 4, end), bytearray(), 0
                del data
                return [text if isinstance(text, Record) else _parse_text(text)]
            messages.append(_parse(data, start + 4, end))
            start, end = end, end + 4
        self._missing = end - size
        if start or data is not self._rest:
            self._rest = bytearray(data[start:])
        return messages

    def give_up(self):
        """Frees the received part of an unfinished frame; its rest is skipped."""
        if len(self._rest) < _LARGE_CHUNK:
            raise MemoryError("no memory is left for an answer of the host")
        end = 4 + int.from_bytes(self._rest[:4], "little")
        self._skipping = end - len(self._rest)
        self._skipped = _no_memory(self._rest, 4, end)
        self._rest, self._missing = bytearray(), 0

    def _skip(self, data):
        count = min(len(data), self._skipping)
        self._skipping -= count
        if self._skipping:
            return []
        return [self._skipped, *(self.feed(data[count:]) if count < len(data) else ())]


def _parse(data, start, end):
    text = _text(data, start, end)
    return text if isinstance(text, Record) else _parse_text(text)


def _text(data, start, end):
    """The text of a frame; without memory for the text, a message in its place."""
    try:
        with memoryview(data) as view:
            return str(view[start:end], "utf-8")
    except MemoryError:
        return _no_memory(data, start, end)


def _parse_text(text):
    try:
        return _scan(text, 0)[0]
    except MemoryError:
        return _no_memory(text[:100].encode(), 0, len(text))


def _no_memory(data, start, end):
    """What a call gets in place of a reply too large for memory."""
    number = re.search(rb'"id": ?(\d+)', data[start : start + 100])
    message = f"no memory is left for an answer of {end - start:,} bytes"
    error = {"kind": "memory", "message": message}
    return Record(t="reply", id=int(number[1]) if number else 0, err=error)
