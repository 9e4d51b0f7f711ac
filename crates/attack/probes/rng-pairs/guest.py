"""Draws from each source of randomness in the same order as B, and compares the values with B's."""

import random
import secrets
import sqlite3
import ssl
import sys
import tempfile
import uuid

drawn = {
    "random": random.getrandbits(64),
    "secrets": secrets.randbits(64),
    "uuid4": uuid.uuid4().int,
    "ssl": ssl.RAND_bytes(8).hex(),
    "sqlite": sqlite3.connect(":memory:").execute("select random()").fetchone()[0],
    "tempfile": os.path.basename(tempfile.mktemp()),
    "numpy": int(sys.modules["numpy"].random.randint(1 << 62)) if "numpy" in sys.modules else None,
    "seeded_alike": random.Random(7).getrandbits(64),
}
for name, value in drawn.items():
    look(name, str(value) == given["before"][name])
