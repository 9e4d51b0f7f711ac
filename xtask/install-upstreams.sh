#!/usr/bin/env bash
# Installs real, public MCP servers that work offline and without keys, for the tests, and writes mcp.json beside them.
# Usage: install-upstreams.sh DIR   (about 300 MB; done once; needs npm, git and python3 with venv)
set -euo pipefail
dir=${1:?usage: install-upstreams.sh DIR}; mkdir -p "$dir"; dir=$(cd "$dir" && pwd)
npm_pkgs=(@modelcontextprotocol/server-everything@2026.8.31 @modelcontextprotocol/server-filesystem@2026.8.31
          @modelcontextprotocol/server-memory@2026.8.31 @modelcontextprotocol/server-sequential-thinking@2026.8.31)
stamp="$dir/.installed-1"
if [ ! -e "$stamp" ]; then
  (cd "$dir" && { [ -e package.json ] || npm init -y >/dev/null; } && npm install --loglevel=error --no-audit --no-fund --ignore-scripts "${npm_pkgs[@]}")
  python3 -m venv "$dir/py-modern"  # servers that speak the 2026-07-28 protocol
  "$dir/py-modern/bin/pip" install -q mcp-server-git==2026.10.19 mcp-server-time==2026.10.19 excel-mcp-server==2.2.2
  python3 -m venv "$dir/py-legacy"  # servers that need the 1.x SDK
  "$dir/py-legacy/bin/pip" install -q 'mcp<2' mcp-server-sqlite==2025.4.25 mcp-server-calculator==0.2.1
  touch "$stamp"
fi
mkdir -p "$dir/data/files" "$dir/data/repo"
[ -d "$dir/data/repo/.git" ] || { git -C "$dir/data/repo" init -q && echo hello >"$dir/data/repo/a.txt" && git -C "$dir/data/repo" add . && git -C "$dir/data/repo" -c user.name=t -c user.email=t@example.com commit -qm one; }
b="$dir/node_modules/.bin"
cat >"$dir/mcp.json" <<J
{"mcpServers": {
  "everything": {"command": "$b/mcp-server-everything", "args": ["stdio"]},
  "filesystem": {"command": "$b/mcp-server-filesystem", "args": ["$dir/data/files"]},
  "memory": {"command": "$b/mcp-server-memory", "env": {"MEMORY_FILE_PATH": "$dir/data/memory.jsonl"}},
  "thinking": {"command": "$b/mcp-server-sequential-thinking"},
  "git": {"command": "$dir/py-modern/bin/mcp-server-git", "args": ["--repository", "$dir/data/repo"]},
  "time": {"command": "$dir/py-modern/bin/mcp-server-time", "args": ["--local-timezone", "UTC"]},
  "excel": {"command": "$dir/py-modern/bin/excel-mcp-server", "args": ["stdio"]},
  "sqlite": {"command": "$dir/py-legacy/bin/mcp-server-sqlite", "args": ["--db-path", "$dir/data/test.db"]},
  "calculator": {"command": "$dir/py-legacy/bin/mcp-server-calculator"}
}}
J
echo "$dir/mcp.json"
