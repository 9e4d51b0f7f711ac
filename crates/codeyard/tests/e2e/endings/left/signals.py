"""Continues in the main thread after its run: by a timer, and by a forged frame with the end."""

import os
import signal


def tick(_signal, _frame):
    with open("alive", "a") as file:
        file.write("x")


signal.signal(signal.SIGALRM, tick)
signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
while not os.path.exists("alive"):
    signal.pause()
print("armed")
