"""Leaves objects in /results that a collector might follow, read endlessly, or fail on."""

import os

if os.uname().nodename != "sandbox":
    raise SystemExit("this fills whatever it runs on, so it runs in sessions only")

os.chdir("/results")
os.symlink("/etc/shadow", "shadow.png")
os.symlink(given["canary"], "canary.png")
os.symlink("/proc/self/mem", "memory.png")
os.symlink("/dev/zero", "zero.png")
os.symlink("/dev/urandom", "random.svg")
os.symlink("loop.png", "loop.png")
os.symlink("..", "up")
os.truncate(os.open("hole.png", os.O_CREAT | os.O_RDWR), given["hole"])
open("unreadable.png", "wb").write(b"\x89PNG\r\n\x1a\n")
os.chmod("unreadable.png", 0)
open("broken.png", "wb").write(b"\x89PNG\r\n\x1a\n" + b"\xff" * 100)
open("broken.svg", "w").write("<svg" + "<g>" * 10_000)
os.mkdir("directory.png")
open(b"name-\xff\xfe.png", "wb").write(b"x")
open("line\nbreak.png", "wb").write(b"x")
open("x" * 255, "wb").write(b"x")
for number in range(200):
    open(f"many-{number}.txt", "wb").close()
here = os.open(".", os.O_RDONLY)
for _ in range(given["depth"]):
    os.mkdir("deep", dir_fd=here)
    below = os.open("deep", os.O_RDONLY, dir_fd=here)
    os.close(here)
    here = below
print("left: allowed")
