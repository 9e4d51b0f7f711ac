"""Opens pipes in as many processes as it can, and keeps them."""

import signal

ready, tell = os.pipe()


def hold(processes):
    """Starts children; each opens all pipes that it can, and keeps them until it is killed."""
    for _ in range(processes):
        if os.fork() == 0:
            try:
                while True:
                    os.pipe()
            except OSError:
                pass
            os.write(tell, b"x")
            signal.pause()
        os.read(ready, 1)


attempt("one", lambda: list(map(os.close, os.pipe())))
attempt("held", lambda: hold(30) if given["inside"] else None)
