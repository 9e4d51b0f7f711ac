"""Tools of `get_tools` lose variables; tools of one session keep them. A failure has no artifact."""

import asyncio

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools


async def call(tools, code):
    (tool,) = [tool for tool in tools if tool.name == "execute_code"]
    message = await tool.ainvoke({"type": "tool_call", "id": "1", "args": {"code": code}})
    return message.status, message.content[0]["text"].splitlines()[-1]


async def main():
    client = MultiServerMCPClient({"codeyard": {"transport": "stdio", "command": "codeyard", "args": ["mcp"]}})
    tools = await client.get_tools()
    await call(tools, "x = 7")
    print(*await call(tools, "return x"))
    async with client.session("codeyard") as session:
        tools = await load_mcp_tools(session)
        await call(tools, "x = 7")
        print(*await call(tools, "return x"))


asyncio.run(main())
