"""A failing program raises by default; names of tools beside a second server."""

import asyncio

from fastmcp import Client
from fastmcp.exceptions import ToolError

CODEYARD = {"command": "codeyard", "args": ["mcp"]}


async def main():
    async with Client({"mcpServers": {"codeyard": CODEYARD}}) as client:
        try:
            await client.call_tool("execute_code", {"code": "1/0"})
        except ToolError as error:
            print("raised", str(error).splitlines()[-1])
        answer = await client.call_tool("execute_code", {"code": "1/0"}, raise_on_error=False)
        print(answer.is_error)
    async with Client({"mcpServers": {"codeyard": CODEYARD, "second": CODEYARD}}) as client:
        print(*[tool.name for tool in await client.list_tools()][:2])


asyncio.run(main())
