"""What the original's stubs import: calls a tool by the names of its server and its own."""


async def toolcall(server_name, tool_name, args=None):
    """The tool's result."""
    return await __toolcall__(server_name, tool_name, args or {})
