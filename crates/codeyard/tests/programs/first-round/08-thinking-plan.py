# Request: Think step by step about whether to cache or precompute a report, record the thoughts, and include one revision.
thoughts = [
    "The report is read 500 times a day and takes 40 s to compute.",
    "Caching gives the first reader a 40 s wait; precomputing gives none.",
    "Data change only at night, so precomputing at 5:00 is enough.",
]
for i, t in enumerate(thoughts, 1):
    r = await tools.thinking.sequentialthinking(thought=t, nextThoughtNeeded=True, thoughtNumber=i, totalThoughts=4)
r = await tools.thinking.sequentialthinking(
    thought="Revision: with a cache warmed at 5:00 both are the same; choose the warmed cache.",
    nextThoughtNeeded=False, thoughtNumber=4, totalThoughts=4, isRevision=True, revisesThought=2)
print(r["thoughtHistoryLength"], "thoughts recorded;", "finished:", not r["nextThoughtNeeded"])
