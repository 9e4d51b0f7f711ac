"""The attacker's next run: a thread that never stood still has no gap, and a process that lived on has gone on writing."""

over.set()
now = time.monotonic()
STILL = 0.4  # most of the time that the other session took


def longest_gap(times):
    """The longest time in which it did not come to act, until this run."""
    times = sorted(time for time in times if time < now) + [now]
    return max(after - before for before, after in zip(times, times[1:]))


for action in ("take_memory", "take_process", "take_cpu", "take_disk", "take_inodes"):
    look(action, longest_gap([began, *stamps[action]]) < STILL)


def is_alive(number):
    try:
        with open(f"/proc/{number}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


# What a thread has started since this run began is this run's.
earlier = [number for forked, number in children if forked < now - STILL]
look("process", not earlier or any(map(is_alive, earlier)))
