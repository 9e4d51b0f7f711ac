"""A failing program raises nothing."""

import asyncio

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main():
    async with Client(stdio_client(StdioServerParameters(command="codeyard", args=["mcp"]))) as client:
        answer = await client.call_tool("execute_code", {"code": "1/0"})
        print(answer.is_error, answer.content[0].text.splitlines()[-1])


asyncio.run(main())
