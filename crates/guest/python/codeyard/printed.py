"""Estimates the tokens of printed text, of which the host shows a model a limited number."""

import re

_PIECES = re.compile(rb"[A-Za-z]{1,4}|[0-9]{1,3}| (?=[0-9])| {2,}|[^A-Za-z0-9 ]")
# Longer words are rarely words: they take a token for every two letters.
_LONG = re.compile(rb"[A-Za-z]{9,}")


def most_tokens(text):
    """The host cuts by the same rule (`crates/surfaces/src/truncate.rs`): text that it cuts must be in a file."""
    tokens = sum(1 for _ in _PIECES.finditer(text))
    for word in _LONG.finditer(text):
        letters = word.end() - word.start()
        tokens += -(-letters // 2) + -letters // 4  # two letters a token and not four
    return tokens
