"""Uses one second of CPU time, ten milliseconds at a time."""

import time


def take(_number):
    begun = time.thread_time()
    while time.thread_time() - begun < 0.01:
        sum(range(1_000))


exceed("burned_1_s", take, 100)
