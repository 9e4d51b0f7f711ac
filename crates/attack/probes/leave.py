"""Leaves a thread, a process and a timer that continue to take; each notes when it acts."""

import mmap
import signal
import time

LEFT = ("thread", "process", "timer")
MOST = 400  # acts of each
PAUSE = 0.01
ANSWERED = 0.1  # after the first act; meanwhile the run ends, within its limits
PATIENCE = 10
PR_SET_NAME = 15
LONGEST_NAME = 15

# Shared with the process that is left behind.
notes = {name: memoryview(mmap.mmap(-1, 8 * MOST)).cast("d") for name in LEFT}
over = mmap.mmap(-1, 1)


def act(name, number):
    """Notes when it acted, whether the action succeeds or not."""
    notes[name][number] = time.monotonic()
    for take, _ in takings:
        try:
            take(f"{name}{number}")
        except (MemoryError, OSError, RuntimeError):
            pass


def go_on(name):
    for number in range(MOST):
        if over[0]:
            return
        act(name, number)
        time.sleep(PAUSE if number else ANSWERED)


def give_all_back():
    for _, give_back in takings:
        try:
            give_back()
        except OSError:  # its parent has done so
            pass


def leave_process():
    """An orphan in its own session."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    os.setsid()
    if os.fork() == 0:
        try:
            go_on("process")
            give_all_back()
        finally:
            os._exit(0)
    os._exit(0)


def leave_timer():
    numbers = iter(range(MOST))

    def expired(_signal, _frame):
        number = next(numbers, None)
        if not over[0] and number is not None:
            act("timer", number)
            # Set last, so that the program itself gets to act on a slow machine.
            signal.setitimer(signal.ITIMER_REAL, PAUSE if number else ANSWERED)

    signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, PAUSE)


def leave():
    """Returns when each of them has acted."""
    leave_process()
    thread.start()
    leave_timer()
    began = time.monotonic()
    while not all(notes[name][0] for name in LEFT):
        if time.monotonic() - began > PATIENCE:
            raise OSError(errno.ETIMEDOUT, "one of them does not act")
        time.sleep(0.001)


if given["inside"]:
    # The host identifies the session's processes by this name.
    libc.prctl(PR_SET_NAME, given["token"][-LONGEST_NAME:].encode(), 0, 0, 0)
thread = threading.Thread(target=go_on, args=("thread",), daemon=True)
attempt("left", leave)
