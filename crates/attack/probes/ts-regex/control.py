"""Matches the same expression with a shorter text."""

import re

re.match("^(a+)+$", "a" * 20 + "b")
say("matched", "allowed")
