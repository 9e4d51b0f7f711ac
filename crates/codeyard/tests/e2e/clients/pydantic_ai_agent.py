"""The model's input, and the end of an agent's run. A list of programs replaces the model."""

import asyncio
import json

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel


def model(programs, read):
    left = iter(programs)

    def answer(messages, _info):
        read.extend(part for part in messages[-1].parts if part.part_kind == "tool-return")
        code = next(left, None)
        part = TextPart("done") if code is None else ToolCallPart("execute_code", {"code": code})
        return ModelResponse(parts=[part])

    return FunctionModel(answer)


async def run(programs, **options):
    toolset = MCPToolset(StdioTransport("codeyard", ["mcp"]), **options)
    read = []
    try:
        end = (await Agent(model(programs, read), toolsets=[toolset]).run("begin")).output
    except UnexpectedModelBehavior:
        end = "ended"
    return read, end


async def main():
    (part,), _ = await run(["print('seen')\nreturn [1, 2]"])
    print(*json.loads(part.model_response_str()))
    read, end = await run(["1/0", "1/0", "return 1"])
    print(len(read), end)
    read, end = await run(["1/0", "1/0", "return 1"], tool_error_behavior="failed")
    print(len(read), end)


asyncio.run(main())
