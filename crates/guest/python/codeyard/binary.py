"""Whether some bytes may hold what is no text: base64, written-out bytes, or bytes that no text has.

The host looks closer and decides what the model is spared. Here it is only seen to that the whole can be had then.
"""

import re

# Fewer bytes are never spared.
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
# Lines of one length, as they are printed or as JSON has them.
_WRAPPED = re.compile(rb"(?:[A-Za-z0-9+/]{60,80}(?:\r?\n|(?:\\r)?\\n)){4}")


def may_hold_binary(data):
    """Looks at every byte a few times, whatever they are."""
    # Colours of a terminal are text.
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
        # Of anything but words, numbers and hashes all three are there.
        if piece.lower() != piece and piece.upper() != piece and piece.translate(None, _DIGITS) != piece:
            return True
        at = flat.find(_LONG, at + _RUN)
    return False


def may_print_binary(data):
    """The same of what a program has printed, which may be any bytes."""
    if b"\0" in data or may_hold_binary(data):
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False
