# Request: Start three long operations of 2, 3 and 4 seconds at the same time on the everything server, and tell me how long all took together.
import asyncio
import time
start = time.time()
results = await asyncio.gather(*[
    tools.everything.trigger_long_running_operation(duration=d, steps=4) for d in (2, 3, 4)
])
elapsed = time.time() - start
for r in results:
    print(r)
print(f"together {elapsed:.1f} s (one after another: 9 s)")
