# Request: Think through "move the database to the new host" in six steps, with one revision and one branch, recorded by the thinking tool; show the record's counts and the final chain.
steps = [
    dict(thought="Inventory: which services name the old host, and which data they write."),
    dict(thought="Set up replication from the old host to the new one and watch its lag."),
    dict(thought="Switch all services at night, in one go."),
    dict(thought="Revision: switch the readers first, one service a day, then the writers.", isRevision=True, revisesThought=3),
    dict(thought="Branch: if the lag never falls below a second, freeze writes for ten minutes and copy.", branchFromThought=2, branchId="freeze"),
    dict(thought="Keep the old host read-only for two weeks as the way back, then remove it."),
]
for n, s in enumerate(steps, 1):
    out = await tools.thinking.sequentialthinking(thoughtNumber=n, totalThoughts=6, nextThoughtNeeded=n < 6, **s)
print("recorded:", out["thoughtHistoryLength"], "thoughts, branches", out["branches"], "| more needed:", out["nextThoughtNeeded"])
revised = {s["revisesThought"] for s in steps if "revisesThought" in s}
for n, s in enumerate(steps, 1):
    if n not in revised and "branchId" not in s:
        print(f"{n}. {s['thought']}")
print("besides:", [s["thought"] for s in steps if "branchId" in s][0])
