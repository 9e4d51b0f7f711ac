"""End-to-end tests: a small host talks to a real guest over a real socket and real pipes."""

import sys

sys.dont_write_bytecode = True
