#!/usr/bin/env bash
# Installs nine real, public MCP servers for the tests, which work offline and without keys. Writes beside them mcp.json;
# remote.json: commands that start three of them as remote servers, with {port} for the port;
# older.json: earlier releases of four, which answer in JSON without an output schema.
# Usage: install-upstreams.sh DIR   (about 300 MB; done once; needs npm, git and python3 with venv)
# PYTHON_PATH, if given, is the search path on which python3 is looked up.
set -euo pipefail
dir=${1:?usage: install-upstreams.sh DIR}; mkdir -p "$dir"; dir=$(cd "$dir" && pwd)
node_packages=(@modelcontextprotocol/server-everything@2026.8.31 @modelcontextprotocol/server-filesystem@2026.8.31
               @modelcontextprotocol/server-memory@2026.8.31 @modelcontextprotocol/server-sequential-thinking@2026.8.31
               oidc-provider@8.8.1)                                                      # no server: who logs people in to one
older_packages=(@modelcontextprotocol/server-filesystem@2025.3.28 @modelcontextprotocol/server-memory@2025.4.25
                @modelcontextprotocol/server-sequential-thinking@2025.7.1
                zod@3.25.76)                                                             # with zod 4 they list no parameters
modern=(mcp-server-git==2026.10.19 mcp-server-time==2026.10.19 excel-mcp-server==2.2.2)  # speak the 2026-07-28 protocol
legacy=('mcp<2' mcp-server-sqlite==2025.4.25 mcp-server-calculator==0.2.1                # need the 1.x SDK
        mcp-server-time==2025.9.25)                                                      # an earlier release, see above

python=$(PATH=${PYTHON_PATH:-$PATH} command -v python3) || { echo "install-upstreams.sh: python3 is missing" >&2; exit 1; }
# Installed once for these versions, this Python and this directory, because scripts of both kinds contain paths.
wanted="$dir ${node_packages[*]} ${older_packages[*]} ${modern[*]} ${legacy[*]} $python $("$python" -V)"
stamp=$dir/.installed
if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
  rm -rf "$stamp" "$dir"/{mcp.json,package.json,package-lock.json,node_modules,older,py-modern,py-legacy}
  echo "installing the servers of the tests in $dir (once, about 300 MB)" >&2
  node_install() {
    mkdir -p "$1"
    (cd "$1" && npm init -y >/dev/null && npm install --loglevel=error --no-audit --no-fund --ignore-scripts "${@:2}" >/dev/null)
  }
  node_install "$dir" "${node_packages[@]}"
  node_install "$dir/older" "${older_packages[@]}"
  "$python" -m venv "$dir/py-modern"
  "$dir/py-modern/bin/pip" install -q --disable-pip-version-check "${modern[@]}"
  "$python" -m venv "$dir/py-legacy"
  "$dir/py-legacy/bin/pip" install -q --disable-pip-version-check "${legacy[@]}"
  printf %s "$wanted" >"$stamp"
fi

# The servers' data in its initial state; each test copies it.
rm -rf "$dir/data"
mkdir -p "$dir/data/files" "$dir/data/repo"
(
  cd "$dir/data/repo"
  git init -q
  echo hello >a.txt
  git add .
  git -c user.name=Test -c user.email=test@example.com commit -qm one
)

b=$dir/node_modules/.bin
cat >"$dir/mcp.json.new" <<J
{"mcpServers": {
  "everything": {"command": "$b/mcp-server-everything", "args": ["stdio"]},
  "filesystem": {"command": "$b/mcp-server-filesystem", "args": ["$dir/data"]},
  "memory": {"command": "$b/mcp-server-memory", "env": {"MEMORY_FILE_PATH": "$dir/data/memory.jsonl"}},
  "thinking": {"command": "$b/mcp-server-sequential-thinking"},
  "git": {"command": "$dir/py-modern/bin/mcp-server-git", "args": ["--repository", "$dir/data/repo"], "env": {
    "GIT_AUTHOR_NAME": "Test", "GIT_AUTHOR_EMAIL": "test@example.com", "GIT_COMMITTER_NAME": "Test", "GIT_COMMITTER_EMAIL": "test@example.com"}},
  "time": {"command": "$dir/py-modern/bin/mcp-server-time", "args": ["--local-timezone", "UTC"]},
  "excel": {"command": "$dir/py-modern/bin/excel-mcp-server", "args": ["stdio"]},
  "sqlite": {"command": "$dir/py-legacy/bin/mcp-server-sqlite", "args": ["--db-path", "$dir/data/test.db"]},
  "calculator": {"command": "$dir/py-legacy/bin/mcp-server-calculator"}
}}
J
mv "$dir/mcp.json.new" "$dir/mcp.json"

cat >"$dir/remote.json.new" <<J
{
  "everything_http": {"command": "$b/mcp-server-everything", "args": ["streamableHttp"], "env": {"PORT": "{port}"}, "path": "/mcp"},
  "everything_sse": {"command": "$b/mcp-server-everything", "args": ["sse"], "env": {"PORT": "{port}"}, "path": "/sse"},
  "excel_http": {"command": "$dir/py-modern/bin/excel-mcp-server", "args": ["streamable-http", "--port", "{port}", "--allow-dir", "$dir/data/files"], "env": {}, "path": "/mcp"}
}
J
mv "$dir/remote.json.new" "$dir/remote.json"

o=$dir/older/node_modules/.bin
cat >"$dir/older.json.new" <<J
{"mcpServers": {
  "clock": {"command": "$dir/py-legacy/bin/mcp-server-time", "args": ["--local-timezone", "UTC"]},
  "graph": {"command": "$o/mcp-server-memory", "env": {"MEMORY_FILE_PATH": "$dir/data/graph.jsonl"}},
  "steps": {"command": "$o/mcp-server-sequential-thinking"},
  "tree": {"command": "$o/mcp-server-filesystem", "args": ["$dir/data"]}
}}
J
mv "$dir/older.json.new" "$dir/older.json"
