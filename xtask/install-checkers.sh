#!/usr/bin/env bash
# Installs mypy and the TypeScript compiler, with which the tests check generated declarations, and js-tiktoken, with which they
# check counts of tokens; it brings the tables of its encodings along.
# Usage: install-checkers.sh DIR   (about 150 MB; done once; needs npm and python3 with venv)
# PYTHON_PATH, if given, is the search path on which python3 is looked up.
set -euo pipefail
dir=${1:?usage: install-checkers.sh DIR}; mkdir -p "$dir"; dir=$(cd "$dir" && pwd)
mypy=mypy==1.18.2
typescript=typescript@5.9.3
tokenizer=js-tiktoken@1.0.21

python=$(PATH=${PYTHON_PATH:-$PATH} command -v python3) || { echo "install-checkers.sh: python3 is missing" >&2; exit 1; }
# Installed once for these versions, this Python and this directory, because scripts contain paths.
wanted="$dir $mypy $typescript $tokenizer $python $("$python" -V)"
stamp=$dir/.installed
if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
  rm -rf "$stamp" "$dir"/{package.json,package-lock.json,node_modules,python}
  echo "installing mypy, TypeScript and js-tiktoken in $dir (once, about 150 MB)" >&2
  (cd "$dir" && npm init -y >/dev/null && npm install --loglevel=error --no-audit --no-fund --ignore-scripts "$typescript" "$tokenizer" >/dev/null)
  "$python" -m venv "$dir/python"
  "$dir/python/bin/pip" install -q --disable-pip-version-check "$mypy"
  printf %s "$wanted" >"$stamp"
fi
