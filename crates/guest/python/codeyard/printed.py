"""How many tokens a printed text has, about: the host shows a model a bounded number of them."""

import re

_PIECES = re.compile(rb"[A-Za-z]{1,4}|[0-9]{1,3}| (?=[0-9])| {2,}|[^A-Za-z0-9 ]")
# Longer words are rarely words, and have a token for every two letters.
_LONG = re.compile(rb"[A-Za-z]{9,}")


def most_tokens(text):
    """The host cuts by the same rule (`crates/gateway/src/printed.rs`): what it cuts has to be in a file."""
    tokens = sum(1 for _ in _PIECES.finditer(text))
    for word in _LONG.finditer(text):
        letters = word.end() - word.start()
        tokens += -(-letters // 2) + -letters // 4  # two letters a token and not four
    return tokens
