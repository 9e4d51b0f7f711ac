import asyncio

SERVERS = [tools.hostile_crowd, tools.hostile_endless_progress, tools.hostile_deaf, tools.hostile_huge]

while True:
    calls = [server.echo(message="x" * 10_000) for server in SERVERS for _ in range(25)]
    await asyncio.wait([asyncio.ensure_future(call) for call in calls], timeout=1)
