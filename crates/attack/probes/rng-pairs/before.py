"""B draws."""

import random
import secrets
import sqlite3
import ssl
import sys
import tempfile
import uuid

say("random", random.getrandbits(64))
say("secrets", secrets.randbits(64))
say("uuid4", uuid.uuid4().int)
say("ssl", ssl.RAND_bytes(8).hex())
say("sqlite", sqlite3.connect(":memory:").execute("select random()").fetchone()[0])
say("tempfile", os.path.basename(tempfile.mktemp()))
say("numpy", int(sys.modules["numpy"].random.randint(1 << 62)) if "numpy" in sys.modules else "absent")
say("seeded_alike", random.Random(7).getrandbits(64))
