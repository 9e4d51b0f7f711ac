"""Renames a file with each flag of renameat2."""

RENAMEAT2 = 316
HERE = -100


def rename(flags):
    for name in ("from", "to"):
        open(name, "wb").close()
    if flags == 1:
        os.unlink("to")
    call(RENAMEAT2, HERE, b"from", HERE, b"to", flags)


attempt("keep", lambda: rename(1))
attempt("exchange", lambda: rename(2))
attempt("whiteout", lambda: rename(4))
