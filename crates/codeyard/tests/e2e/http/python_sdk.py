"""Two runs in one session of the SDK's client."""

import asyncio
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client


async def main():
    async with streamable_http_client(sys.argv[1]) as streams, ClientSession(streams[0], streams[1]) as client:
        await client.initialize()
        tools = (await client.list_tools()).tools
        await client.call_tool("execute_code", {"code": "x = 41"})
        answer = await client.call_tool("execute_code", {"code": "return x + 1"})
        print(len(tools), answer.structured_content["result"])


asyncio.run(main())
