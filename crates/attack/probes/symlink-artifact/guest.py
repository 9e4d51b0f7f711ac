"""Leaves artifacts that might lead the host's collector out of the directory, never end, or make it fail."""


def leave():
    os.symlink("/etc/shadow", "shadow.png")
    os.symlink(given["host"]["file"], "canary.png")
    os.symlink("/proc/self/mem", "memory.png")
    os.symlink("/dev/zero", "zero.png")
    os.symlink("loop.png", "loop.png")
    os.symlink("..", "up")
    os.truncate(os.open("hole.png", os.O_CREAT | os.O_RDWR), 15 << 20)
    os.mkdir("directory.png")
    os.close(os.open(b"name-\xff\xfe\n.png", os.O_CREAT | os.O_WRONLY))
    # Outside a session, only as deep as the test's clean-up can remove.
    here = os.open(".", os.O_RDONLY)
    for _ in range(1_500 if given["inside"] else 15):
        os.mkdir("deep", dir_fd=here)
        below = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below


if given["inside"] and os.path.isdir("/results"):
    os.chdir("/results")
attempt("left", leave)
