"""The time limit of a call, the demands of strict schemas, and the answer to unknown arguments."""

import asyncio
import json

from agents import Agent, RunContextWrapper
from agents.mcp import MCPServerStdio, MCPUtil
from agents.tool_context import ToolContext

CODEYARD = {"command": "codeyard", "args": ["mcp"]}


async def tools_of(server):
    context = RunContextWrapper(None)
    tools = await MCPUtil.get_function_tools(server, True, context, Agent(name="test"))
    return {tool.name: tool for tool in tools}


async def call(tool, **arguments):
    arguments = json.dumps(arguments)
    context = ToolContext(None, tool_name=tool.name, tool_call_id="1", tool_arguments=arguments)
    return await tool.on_invoke_tool(context, arguments)


async def main():
    async with MCPServerStdio(CODEYARD) as server:
        execute = (await tools_of(server))["execute_code"]
        print(await call(execute, code="import time\ntime.sleep(6)"))
    async with MCPServerStdio(CODEYARD, client_session_timeout_seconds=310) as server:
        tools = await tools_of(server)
        print(*tools["execute_code"].params_json_schema["required"])
        parts = await call(tools["execute_code"], code=r"return b'\x89PNG\r\n\x1a\n' + bytes(9)")
        print(*[part["type"] for part in parts])
        for nothing in (None, "", 0):
            words = None if nothing == 0 else nothing
            arguments = {"language": words, "session": words, "timeout_ms": nothing}
            print(await call(tools["execute_code"], code="import time\ntime.sleep(0.2)\nreturn 1", **arguments))
            print(await call(tools["search_tools"], query="mail", detail=words, limit=nothing))


asyncio.run(main())
