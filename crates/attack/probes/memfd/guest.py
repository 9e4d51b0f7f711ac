"""Fills memfds with 400 MiB."""

kept = []


def fill(pieces):
    """Fills one memfd, which stays within a session's file size limit."""
    kept.append(os.memfd_create("held"))
    for _ in range(pieces):
        os.write(kept[-1], bytes(1 << 20))


def fill_many():
    for _ in range(27):
        fill(15)


attempt("one", lambda: fill(1))
if given["inside"]:
    attempt("kept_400_mib", fill_many)
