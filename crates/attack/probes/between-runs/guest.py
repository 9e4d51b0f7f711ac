"""Leaves threads and a process that go on taking memory, processes, CPU time, disk and files after the run's answer."""

import signal
import time

BOUND = 400  # attempts of each thread: together far beyond every limit of a session
began = time.monotonic()
stamps = {}
held = []
children = []
over = threading.Event()
go = threading.Event()


def take_memory(_number):
    held.append(bytearray(4 << 20))


def take_process(_number):
    child = os.fork()
    if child == 0:
        signal.pause()
    children.append((time.monotonic(), child))


def take_cpu(_number):
    sum(range(200_000))


def take_disk(number):
    with open(f"/tmp/disk{number}", "wb") as file:
        file.write(bytes(1 << 20))


def take_inodes(number):
    for part in range(50):
        open(f"/tmp/inode{number}-{part}", "w").close()


def go_on(name, action):
    """Notes when it came to act, whether it got what it wanted or not."""
    go.wait()
    for number in range(BOUND):
        if over.is_set():
            return
        stamps[name].append(time.monotonic())
        try:
            action(number)
        except (MemoryError, OSError):
            pass
        time.sleep(0.01)


def leave():
    for action in (take_memory, take_process, take_cpu, take_disk, take_inodes):
        name = action.__name__
        stamps[name] = []
        threading.Thread(target=go_on, args=(name, action), daemon=True).start()
    child = os.fork()
    if child == 0:
        go_on_alone()
    children.append((time.monotonic(), child))


def go_on_alone():
    """A process, which notes in a file that it is alive."""
    for number in range(BOUND):
        try:
            with open("/tmp/alive", "a") as file:
                file.write("x")
        except OSError:  # the threads have filled the disk
            pass
        time.sleep(0.01)
    os._exit(0)


if given["inside"]:
    attempt("left", leave)
    while not os.path.exists("/tmp/alive"):
        time.sleep(0.001)
    go.set()
else:
    attempt("left", lambda: None)
