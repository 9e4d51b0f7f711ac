"""How the modules beside this file call tools: in a program of codeyard at once, elsewhere by `codeyard call`.

Elsewhere the command is the one in the variable CODEYARD (`codeyard --data DIR` too, quoted as for a shell), else
`codeyard`; its configuration is that of the user and of the working directory.
"""

from __future__ import annotations

import builtins
import json
import os
import shlex
import subprocess
from collections.abc import Mapping
from typing import Any


class ToolError(RuntimeError):
    """A call that failed, or a tool that reported an error."""


def call_mcp_tool(
    server: str, tool: str, arguments: Mapping[str, Any], optional: Mapping[str, Any] | None = None
) -> Any:
    """Calls a tool and waits for its value. Of `optional`, what is `None` is not sent."""
    given = {name: value for name, value in (optional or {}).items() if value is not None}
    sent = {**arguments, **given}
    inside = getattr(builtins, "call_mcp_tool", None)
    if inside is not None:
        return inside(server, tool, sent)
    command = shlex.split(os.environ.get("CODEYARD", "")) or ["codeyard"]
    try:
        ran = subprocess.run(
            [*command, "call", f"{server}.{tool}", "-", "--json"],
            input=json.dumps(sent),
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise ToolError(f"`{command[0]}` was not started ({error.strerror}); name it in the variable CODEYARD") from None
    try:
        answer = json.loads(ran.stdout)
    except ValueError:
        raise ToolError(ran.stderr.strip() or f"`{shlex.join(command)} call` ended with status {ran.returncode}") from None
    return _value_of(answer)


def _value_of(answer: Any) -> Any:
    blocks = answer.get("content") or []
    text = "\n".join(block["text"] for block in blocks if isinstance(block.get("text"), str))
    if answer.get("isError"):
        raise ToolError(text)
    if answer.get("structuredContent") is not None:
        return answer["structuredContent"]
    try:
        return json.loads(text)
    except ValueError:
        return text
