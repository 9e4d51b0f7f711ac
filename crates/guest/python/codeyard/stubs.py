"""The decorator for declarations below /tools: `from mcp.stubs import tool`."""

import sys
from functools import wraps

__all__ = ["tool"]


def tool(server, name):
    """Makes a function that only declares a tool call it, with keyword arguments or one mapping."""

    def calling(declared):
        @wraps(declared)
        async def call(*arguments, **named):
            # The helpers differ by surface.
            return await sys.modules["mcp.runtime"].call_tool(server, name, dict(*arguments, **named))

        return call

    return calling
