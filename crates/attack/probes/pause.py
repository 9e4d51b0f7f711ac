"""Outside a session, stands for the time between two runs."""

begin = time.monotonic()
while time.monotonic() - begin < 0.3:
    time.sleep(PAUSE)
given["idle"] = [begin, time.monotonic()]
