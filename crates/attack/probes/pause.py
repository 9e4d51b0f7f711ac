"""Stands for the time between two runs, outside, where a program has none."""

begin = time.monotonic()
while time.monotonic() - begin < 0.3:
    time.sleep(PAUSE)
given["idle"] = [begin, time.monotonic()]
