"""Self-test of a session whose interpreter was cloned without its after-fork hooks."""

import asyncio
import concurrent.futures
import logging
import multiprocessing
import os
import random
import signal
import subprocess
import threading

lock = threading.Lock()
counted = []


def count():
    with lock:
        counted.append(threading.get_ident())


threads = [threading.Thread(target=count) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(10)
assert len(counted) == 4, counted
assert threading.active_count() == 1, threading.enumerate()

with concurrent.futures.ThreadPoolExecutor(2) as pool:
    assert list(pool.map(abs, [-1, -2])) == [1, 2]

assert subprocess.run(["/bin/echo", "ok"], capture_output=True, timeout=10).stdout == b"ok\n"


async def steps():
    await asyncio.sleep(0)
    process = await asyncio.create_subprocess_exec("/bin/true")
    return await asyncio.wait_for(process.wait(), 10)


assert asyncio.run(steps()) == 0

child = os.fork()
if child == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7

process = multiprocessing.get_context("fork").Process(target=count)
process.start()
process.join(10)
assert process.exitcode == 0, process.exitcode

received = []
signal.signal(signal.SIGUSR1, lambda number, frame: received.append(number))
os.kill(os.getpid(), signal.SIGUSR1)
assert received == [signal.SIGUSR1]

logging.getLogger("self-test").debug("locks of logging are free")
assert random.random() != random.random()
