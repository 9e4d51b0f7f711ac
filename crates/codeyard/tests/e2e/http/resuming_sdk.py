"""A run whose connection breaks: the SDK's client resumes it by itself."""

import asyncio
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client


async def main():
    async with streamable_http_client(sys.argv[1]) as streams, ClientSession(streams[0], streams[1]) as client:
        await client.initialize()
        answer = await client.call_tool("execute_code", {"code": "import time\ntime.sleep(3)\nreturn 42"})
        print(answer.structured_content["result"])


asyncio.run(main())
