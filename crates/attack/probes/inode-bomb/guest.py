"""Makes four thousand empty files in each place of its own file system."""


def fill(directory):
    os.mkdir(directory)
    made = []
    try:
        for number in range(4_000):
            path = f"{directory}/{number}"
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
            made.append(path)
    finally:
        for path in made:
            os.unlink(path)
        os.rmdir(directory)


attempt("in_temporary", lambda: fill("/tmp/bomb" if given["inside"] else "bomb"))
attempt("in_shared_memory", lambda: fill("/dev/shm/bomb" if given["inside"] else "bomb"))
