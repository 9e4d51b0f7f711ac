"""Detects bytes that may hold binary content: base64, escaped bytes, or bytes outside of text.

The host decides what to hide from the model. The guest only makes sure that a full copy exists.
"""

import re

# Fewer bytes are never hidden.
LEAST = 400

_RUN = 400
_LONG = b"A" * _RUN
_LINE = 60
_DIGITS = b"0123456789"
_ESCAPES = 64
_UNREADABLE = 32
_REPLACED = "\ufffd".encode()
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
_FLAT = bytes(65 if code in _ALPHABET else 32 for code in range(256))
# Lines of equal length, as printed or as in JSON.
_WRAPPED = re.compile(rb"(?:[A-Za-z0-9+/]{60,80}(?:\r?\n|(?:\\r)?\\n)){4}")


def may_hold_binary(data):
    """Reads every byte a few times at most."""
    # Terminal colours count as text.
    unreadable = data.count(b"\\u00") - data.count(b"\\u001b") + data.count(_REPLACED)
    if data.count(b"\\x") >= _ESCAPES or unreadable >= _UNREADABLE:
        return True
    flat = data.translate(_FLAT)
    if b"A" * _LINE not in flat:
        return False
    return _has_run(data, flat) or _WRAPPED.search(data) is not None


def _has_run(data, flat):
    at = flat.find(_LONG)
    while at >= 0:
        piece = data[at : at + _RUN]
        # Only words, numbers and hashes lack one of the three.
        if piece.lower() != piece and piece.upper() != piece and piece.translate(None, _DIGITS) != piece:
            return True
        at = flat.find(_LONG, at + _RUN)
    return False


def may_print_binary(data):
    """Applies `may_hold_binary` to printed output, which may be any bytes."""
    if b"\0" in data or may_hold_binary(data):
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False
