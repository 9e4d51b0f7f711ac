"""Makes the same files, fewer of them."""

import resource

SOFT, HARD = resource.getrlimit(resource.RLIMIT_NOFILE)
MOST = 400


def write(name, size):
    with open(name, "wb") as file:
        file.truncate(size)


def open_many():
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(HARD, MOST + 100), HARD))
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(MOST)]
    for file in held:
        os.close(file)


attempt("written_72_mib", lambda: write("bytes", 72 << 20))
for name in ("made_4000_files", "made_4000_directories", "made_4000_links"):
    attempt(name, lambda: os.mkdir(tempfile.mktemp(dir=".")))
attempt("opened_400", open_many)
attempt("grown_file", lambda: write("grown", 20 << 20))
attempt("stretched_file", lambda: write("stretched", 1 << 30))
attempt("one_file", lambda: write("one", 1 << 17))
