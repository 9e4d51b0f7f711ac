# Request: long-running operation (3 s, 3 steps) and meanwhile annotated messages of all types and 4 resource links; elapsed time
import asyncio
import time

start = time.monotonic()

async def timed(name, call):
    r = await call
    return name, round(time.monotonic() - start, 2), r

kinds = ["error", "success", "debug"]
done = await asyncio.gather(
    timed("long operation", tools.everything.trigger_long_running_operation(duration=3, steps=3)),
    *(timed(k, tools.everything.get_annotated_message(messageType=k)) for k in kinds),
    timed("links", tools.everything.get_resource_links(count=4)),
)
for name, at, r in done:
    print(f"{name} after {at} s: {r}")
    for b in getattr(r, "content", []):
        if b.get("annotations"):
            print("   annotations:", b["annotations"])
        if b.get("type") == "resource_link":
            print("   link:", b.get("uri"), b.get("name"), b.get("mimeType"))
print("total:", round(time.monotonic() - start, 2), "s")
