"""Two runs of FastMCP's client."""

import asyncio
import sys

from fastmcp import Client


async def main():
    async with Client(sys.argv[1]) as client:
        tools = await client.list_tools()
        await client.call_tool("execute_code", {"code": "x = 41"})
        answer = await client.call_tool("execute_code", {"code": "return x + 1"})
        print(len(tools), answer.structured_content["result"])


asyncio.run(main())
