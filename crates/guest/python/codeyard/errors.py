"""The exceptions that a program meets when it calls tools."""


class ToolError(Exception):
    """A tool call that failed, or a tool that reported an error.

    `kind` says which: `tool` (the tool itself reported it), `unknown_tool`, `invalid_arguments`, `denied`,
    `upstream`, `timeout`, `cancelled`, `limit`.
    """

    __module__ = "builtins"  # Where programs find it, and how tracebacks and pickles name it.

    def __init__(self, message, server="", tool="", kind="tool", retryable=False, hint=None):
        super().__init__(message, server, tool, kind, retryable, hint)
        self.message = message
        self.server = server
        self.tool = tool
        self.kind = kind
        self.retryable = retryable
        self.hint = hint

    def __str__(self):
        return f"{self.message} ({self.hint})" if self.hint else self.message


class MCPError(RuntimeError):
    """A helper of `runtime` that was asked for something that is not there."""

    __module__ = "builtins"


class UnawaitedCall(Exception):
    """A call that was created and never awaited; ends the run that created it."""

    def __init__(self, message, filename, line):
        super().__init__(message)
        self.filename = filename
        self.line = line


def from_host(error, server, tool):
    """The exception for a failed host call."""
    if error.get("kind") == "memory":  # made in this process, see `frames`
        return MemoryError(error["message"])
    return ToolError(
        error.get("message") or "the call failed",
        server,
        tool,
        kind=error.get("kind") or "upstream",
        retryable=bool(error.get("retryable")),
        hint=error.get("hint"),
    )
