"""The next run: reports which leftovers acted before it."""

over[0] = 1
signal.setitimer(signal.ITIMER_REAL, 0)
begin, end = given["idle"]
for name in LEFT:
    look(name, any(begin < stamp < end for stamp in notes[name]))
thread.join(PATIENCE)
give_all_back()
