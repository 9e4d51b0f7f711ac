import asyncio
order = []
async def call(server):
    try:
        await tools[server].echo(message='x')
        order.append(server)
    except ToolError as e:
        order.append(str(e))
await asyncio.gather(*map(call, ('hung', 'deaf', 'late', 'stub')))
return order
