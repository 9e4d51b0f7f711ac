# Read a file that may be missing; if it is, create it with default settings, then print the port.
f=DATA/files/settings07.json
if ! mcp call filesystem.read_text_file path=$f >/dev/null 2>/scratch/err07; then
  echo "not there: $(head -c 60 /scratch/err07 | head -n 1 | cut -c1-20)..." >&2
  jq -n '{host: "localhost", port: 8080, debug: false}' > /scratch/settings07.json
  jq -n --arg p "$f" --rawfile c /scratch/settings07.json '{path: $p, content: $c}' | mcp call filesystem.write_file - >/dev/null
fi
mcp call filesystem.read_text_file path=$f | jq -r '.content | fromjson | .port'
