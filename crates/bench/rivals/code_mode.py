"""FastMCP's CodeMode with Monty in front of one upstream server, as in its manual."""

import sys

from fastmcp.experimental.transforms.code_mode import CodeMode
from fastmcp.server import create_proxy

upstream = {"command": sys.argv[1], "args": sys.argv[2:]}
server = create_proxy({"mcpServers": {"stub": upstream}}, name="code-mode")
server.add_transform(CodeMode())
server.run(show_banner=False, log_level="ERROR")
