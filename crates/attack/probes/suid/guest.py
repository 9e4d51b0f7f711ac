"""Sets the set-user-id and set-group-id bits of a file in its workspace."""

own = os.open("program", os.O_RDWR | os.O_CREAT, 0o600)
attempt("chmod_user", lambda: os.chmod("program", 0o4755))
attempt("chmod_group", lambda: os.chmod("program", 0o2755))
attempt("fchmod_user", lambda: os.fchmod(own, 0o4755))
attempt("open_user", lambda: os.close(os.open("other", os.O_WRONLY | os.O_CREAT, 0o4755)))
attempt("chmod_high_bits", lambda: call(90, b"program", 1 << 32 | 0o4755))
attempt("chmod", lambda: os.chmod("program", 0o700))
