#!/bin/sh
if [ "$1" = mcp ]; then tr '\0' '\n' </proc/$$/environ >>"$HOME/environment"; fi
exec "{codeyard}" "$@"
