"""Draws from every source of randomness that a program would trust."""

import os
import random
import secrets
import sqlite3
import ssl
import tempfile
import uuid

drawn = {
    "random": random.getrandbits(64),
    "random_system": random.SystemRandom().getrandbits(64),
    "secrets": secrets.randbits(64),
    "urandom": int.from_bytes(os.urandom(8), "little"),
    "uuid4": uuid.uuid4().int,
    "ssl": int.from_bytes(ssl.RAND_bytes(8), "little"),
    "sqlite": sqlite3.connect(":memory:").execute("select random()").fetchone()[0],
    "tempfile": int.from_bytes(os.path.basename(tempfile.mktemp()).encode(), "little"),
}
if given["numpy"]:
    import numpy

    drawn["numpy"] = int(numpy.random.randint(1 << 62))
    drawn["numpy_generator"] = int(numpy.random.default_rng().integers(1 << 62))
for name, value in drawn.items():
    print(f"{name}: {value}")
