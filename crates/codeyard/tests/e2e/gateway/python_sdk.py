"""Writes and reads a file with the SDK's client: over Streamable HTTP in each era, then over SSE."""

import asyncio
import sys

import httpx2
from mcp import Client, ClientSession
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

URL, HEADERS = sys.argv[1], {"Authorization": f"Bearer {sys.argv[2]}"}


async def use(client, name):
    tools = [tool.name for tool in (await client.list_tools()).tools]
    await client.call_tool("fs_write", {"path": f"/scratch/{name}", "content": name})
    answer = await client.call_tool("shell_exec", {"code": f"print(read_file('{name}'))", "language": "python"})
    print(len(tools), answer.structured_content["output"].strip())


async def main():
    for mode in ("auto", "legacy"):
        async with httpx2.AsyncClient(headers=HEADERS, timeout=60) as http:
            async with Client(streamable_http_client(f"{URL}/mcp", http_client=http), mode=mode) as client:
                await use(client, mode)
    async with sse_client(f"{URL}/sse", headers=HEADERS) as streams, ClientSession(*streams) as client:
        await client.initialize()
        await use(client, "sse")


asyncio.run(main())
