# Request: Run a long operation of 12 seconds with 6 steps and meanwhile do other things; tell me how progress went and how long all of it took.
import asyncio, time

start = time.monotonic()
task = asyncio.create_task(tools.everything.trigger_long_running_operation(duration=12, steps=6))
done = []
async def other():
    n = 0
    while not task.done():
        n += 1
        t = await tools.time.get_current_time(timezone="UTC")
        s = await tools.everything.get_sum(a=n, b=n)
        done.append((round(time.monotonic() - start, 1), t["datetime"][11:19], str(s)))
        await asyncio.sleep(2)
result, _ = await asyncio.gather(task, other())
print("the operation said:", result)
print("took", round(time.monotonic() - start, 1), "s in all; meanwhile:")
for d in done:
    print(*d)
