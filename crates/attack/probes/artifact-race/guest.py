"""Leaves a process that keeps replacing and truncating one artifact; outside a session, does so ten times."""

if given["inside"] and os.path.isdir("/results"):
    os.chdir("/results")


def swap(times):
    for number in range(times):
        with open("new", "wb") as file:
            file.write(bytes(1 << 16))
        os.rename("new", "raced.png")
        os.truncate("raced.png", 1)
        os.symlink(given["host"]["file"], "link")
        os.rename("link", "raced.png")


attempt("swaps", lambda: swap(10))
if given["inside"] and os.fork() == 0:
    swap(1 << 40)
