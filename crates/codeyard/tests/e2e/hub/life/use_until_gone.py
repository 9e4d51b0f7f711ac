errors = []
async def until_gone(name):
    while True:
        said = await answer(calls[name])
        if f"unknown server '{name}'" in said:
            return name
        if said.startswith('failed'):
            errors.append(said)
        await asyncio.sleep(0.1)
long = [asyncio.ensure_future(answer(lambda server=server: tools[server].trigger_long_running_operation(duration=3, steps=3)))
        for server in ('everything', 'everything_http', 'everything_sse')]
await asyncio.sleep(0)
await tools.keep.write(path='DATA/begun')
gone = await asyncio.gather(*map(until_gone, calls))
return [len(gone), errors, await asyncio.gather(*long)]
