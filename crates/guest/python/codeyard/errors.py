"""The exceptions that a program meets when it calls tools."""


class ToolError(Exception):
    """A tool call that failed, or a tool that reported an error.

    `kind` says which: `tool` (the tool itself reported it), `unknown_tool`, `invalid_arguments`, `denied`,
    `upstream`, `timeout`, `cancelled`, `limit`; on the surface `bridge` also `not_loaded`, `refused`, `conflict`.
    """

    __module__ = "builtins"  # The public module of the class, shown in tracebacks and pickles.

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


class UnknownName(ToolError, AttributeError):
    """No server or tool has this name."""

    __module__ = "builtins"


class MCPError(RuntimeError):
    """A helper of `runtime` was called with an unknown name."""

    __module__ = "builtins"


class BridgeError(ToolError, MCPError):
    """Raised by every failed call and helper on the surface `bridge`, where programs know it as `MCPError`."""

    __module__ = "builtins"


BridgeError.__name__ = BridgeError.__qualname__ = "MCPError"


class RefusedError(BridgeError, ValueError):
    """An entry cannot be saved: its key, name or value is not allowed, or the store is full."""

    __module__ = "mcp.runtime"


class UnawaitedCall(Exception):
    """A call that was created and never awaited; ends the run that created it."""

    def __init__(self, message, filename, line):
        super().__init__(message)
        self.filename = filename
        self.line = line


_raised = ToolError


def raise_as(kind):
    """Sets the class (a `ToolError`) that failed calls raise in this process."""
    global _raised
    _raised = kind


def failed_call(message, **more):
    return _raised(message, **more)


def from_host(error, server, tool):
    """The exception for a failed host call."""
    kind = error.get("kind") or "upstream"
    if kind == "memory":  # made in this process, see `frames`
        return MemoryError(error["message"])
    raised = RefusedError if kind == "refused" else _raised
    return raised(
        error.get("message") or "the call failed",
        server,
        tool,
        kind=kind,
        retryable=bool(error.get("retryable")),
        hint=error.get("hint"),
    )
