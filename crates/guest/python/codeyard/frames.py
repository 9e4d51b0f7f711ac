"""Frames between guest and host: a little-endian `u32` length, then that many bytes of JSON."""

import json.encoder
from json import JSONDecoder, JSONEncoder

from codeyard.values import Record

VERSION = 1
MAX_FRAME = 96 * 1024 * 1024

_CHUNK = 16 * 1024
_LARGE_CHUNK = 1024 * 1024


def _refuse(value):
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _make_encoder():
    """One C encoder for the life of the process; `JSONEncoder.encode` would make a new one for each frame."""
    make = json.encoder.c_make_encoder
    if make is None:
        return JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
    quote = json.encoder.encode_basestring
    encoder = make(None, _refuse, quote, None, ":", ",", False, False, False)
    return lambda message: "".join(encoder(message, 0))


encode = _make_encoder()
_scan = JSONDecoder(object_hook=Record).scan_once


def pack(message):
    """The bytes of one frame. Lone surrogates, which UTF-8 does not have, become replacement characters."""
    text = encode(message)
    try:
        body = text.encode()
    except UnicodeEncodeError:
        # UTF-16 joins the pairs that belong together and leaves only the lone ones to be replaced.
        body = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    return len(body).to_bytes(4, "little") + body


class Unpacker:
    """Cuts a stream of bytes into messages; objects arrive as `Record`."""

    def __init__(self):
        self._rest = bytearray()
        self._missing = 0

    def chunk(self):
        """How many bytes to ask for next."""
        return max(_CHUNK, min(self._missing, _LARGE_CHUNK))

    def feed(self, data):
        """Takes bytes and returns the messages that they complete."""
        if self._rest:
            self._rest += data
            data = self._rest
        elif int.from_bytes(data[:4], "little") == len(data) - 4:
            return [_scan(data[4:].decode(), 0)[0]]  # One whole frame, as nearly always.
        texts = []
        start, size = 0, len(data)
        end = 4
        with memoryview(data) as view:
            while size >= end:
                end += int.from_bytes(view[start : start + 4], "little")
                if size < end:
                    break
                texts.append(str(view[start + 4 : end], "utf-8"))
                start, end = end, end + 4
        self._missing = end - size
        if start or data is not self._rest:
            self._rest = bytearray(data[start:])
        # A large frame must not be held twice while it is parsed.
        del data
        texts.reverse()
        messages = []
        while texts:
            messages.append(_scan(texts.pop(), 0)[0])
        return messages
