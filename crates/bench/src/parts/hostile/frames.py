import asyncio

while True:
    calls = [tools.stub.echo(message="x" * 10_000) for _ in range(100)]
    await asyncio.gather(*calls, return_exceptions=True)
