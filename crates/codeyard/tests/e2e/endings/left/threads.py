"""Leaves threads behind that count and write."""

import threading


def count():
    while True:
        ticks[0] += 1
        if ticks[0] % 1000 == 0:
            with open("alive", "a") as file:
                file.write("x")


ticks = [0]
for _ in range(3):
    threading.Thread(target=count, daemon=True).start()
while ticks[0] < 5000:
    pass
print("started")
