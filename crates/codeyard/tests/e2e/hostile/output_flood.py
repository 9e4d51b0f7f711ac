"""Writes endlessly to both streams: as lines, as one line, below the streams."""

import os
import sys

if os.uname().nodename != "sandbox":
    raise SystemExit("this fills whatever it runs on, so it runs in sessions only")

print("beginning")
print("beginning of errors", file=sys.stderr)
line = "x" * 1023
for _ in range(given["lines"]):
    print(line)
    sys.stderr.write(line)
os.write(1, b"\xff\x00\x1b[31m" * 1000)
sys.stdout.write("y" * 5_000_000)
print("end")
print("end of errors", file=sys.stderr)
