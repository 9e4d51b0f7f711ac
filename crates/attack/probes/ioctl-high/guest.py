"""Inserts a character into its standard input with TIOCSTI, also with high bits set in the request."""

TYPE = 0x5412
attempt("plain", lambda: call(16, 0, TYPE, b"x"))
attempt("high_bits", lambda: call(16, 0, 1 << 32 | TYPE, b"x"))
