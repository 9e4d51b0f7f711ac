# Read the settings file of the app; if there is none yet, write the defaults first. Then print the port.
f=DATA/files/settings11.json
if ! mcp call filesystem.read_text_file path=$f >/scratch/settings11 2>/scratch/settings11.err; then
  echo "no settings ($(head -c 80 /scratch/settings11.err | tr '\n' ' ')), writing the defaults"
  defaults='{"host": "localhost", "port": 8080, "debug": false}'
  jq -n --arg p $f --arg c "$defaults" '{path: $p, content: $c}' | mcp call filesystem.write_file - >/dev/null
  mcp call filesystem.read_text_file path=$f >/scratch/settings11
fi
jq -r '.content | fromjson | "port \(.port) on \(.host)"' /scratch/settings11
