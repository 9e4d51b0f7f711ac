import asyncio
async def listed(server, tool):
    await tools[server].list_workbooks(directory='DATA/files')
    return tool in [t['name'] for t in await runtime.list_tools(server)]
async def answer(call):
    try:
        return str(await call())
    except Exception as error:
        return f'failed: {error}'
async def once():
    return dict(zip(calls, await asyncio.gather(*map(answer, calls.values()))))
