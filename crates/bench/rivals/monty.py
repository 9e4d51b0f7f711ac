"""Monty as a library: performs an operation for each word on standard input and writes its seconds."""

import sys
import time

from pydantic_monty import CollectString, Monty

CALLS = 40
PROGRAM = f"for n in range({CALLS}):\n    echo('x')"


def seconds(work):
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main():
    def start():
        with pool.checkout() as fresh:
            fresh.feed_run("print(1 + 1)", print_callback=CollectString())

    def live():
        session.feed_run("1 + 1")

    def call():
        # A new session, because a session allows a thousand calls; opening is not timed.
        with pool.checkout() as other:
            full = seconds(lambda: other.feed_run(PROGRAM, external_lookup={"echo": lambda message: message}))
            return (full - seconds(lambda: other.feed_run("1 + 1"))) / CALLS

    with Monty(min_processes=2) as pool, pool.checkout() as session:
        for line in sys.stdin:
            word = line.strip()
            if word == "start":
                took = seconds(start)
            elif word == "live":
                took = seconds(live)
            else:
                took = call()
            print(took, flush=True)


main()
